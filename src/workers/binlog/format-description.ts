import { DecodeError } from "./decode-error.js";
import { ByteReader } from "./byte-reader.js";
import { CHECKSUM_SIZE } from "./checksum.js";
import { EVENT, HEADER_SIZE } from "./event-types.js";

/** What a FORMAT_DESCRIPTION event says about the events of the file that it begins. */
export interface FormatDescription {
  serverVersion: string;
  /** Whether events end with a CRC32. */
  checksums: boolean;
}

/** The layouts that the decoders read; the event has a table of the fixed part's length by type. */
const FIXED_LENGTHS: readonly (readonly [type: number, length: number])[] = [
  [EVENT.QUERY, 13],
  [EVENT.TABLE_MAP, 8],
  [EVENT.WRITE_ROWS_V1, 8],
  [EVENT.UPDATE_ROWS_V1, 8],
  [EVENT.DELETE_ROWS_V1, 8],
  [EVENT.WRITE_ROWS, 10],
  [EVENT.UPDATE_ROWS, 10],
  [EVENT.DELETE_ROWS, 10],
];

/** Decodes the event at `start` (its header included) up to `end`. */
export function decodeFormatDescription(bytes: Buffer, start: number, end: number): FormatDescription {
  const reader = new ByteReader(bytes, start + HEADER_SIZE, end);
  const binlogVersion = reader.u16();
  const serverVersion = reader.utf8(50).replace(/\0[^]*$/, "");
  reader.take(4);
  const headerSize = reader.u8();
  if (binlogVersion !== 4 || headerSize !== HEADER_SIZE) {
    throw new DecodeError(`the binlog has format ${binlogVersion}, only format 4 is known`);
  }
  // Since 5.6.1 (MariaDB 5.3) the event ends with the checksum algorithm and always with a checksum of its own.
  const lengthsEnd = end - CHECKSUM_SIZE - 1;
  const lengths = bytes.subarray(reader.at, lengthsEnd);
  for (const [type, length] of FIXED_LENGTHS) {
    // A length of 0 stands for a type that the server does not write.
    const found = lengths[type - 1] ?? 0;
    if (found !== 0 && found !== length) {
      throw new DecodeError(`the binlog's events of type ${type} have a fixed part of ${found} bytes instead of ${length}`);
    }
  }
  const algorithm = bytes[lengthsEnd] as number;
  if (algorithm > 1) throw new DecodeError(`the binlog's checksum algorithm ${algorithm} is not known`);
  return { serverVersion, checksums: algorithm === 1 };
}
