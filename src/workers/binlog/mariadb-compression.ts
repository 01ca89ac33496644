import { inflateSync } from "node:zlib";
import { ByteReader } from "./byte-reader.js";
import { DecodeError } from "./decode-error.js";
import { EVENT, HEADER_SIZE } from "./event-types.js";
import { sqlOffset } from "./query-event.js";

/** MariaDB's `log_bin_compress` events, and the plain types that they stand for. */
const PLAIN: Record<number, number> = {
  [EVENT.MARIADB_QUERY_COMPRESSED]: EVENT.QUERY,
  [EVENT.MARIADB_WRITE_ROWS_COMPRESSED_V1]: EVENT.WRITE_ROWS_V1,
  [EVENT.MARIADB_UPDATE_ROWS_COMPRESSED_V1]: EVENT.UPDATE_ROWS_V1,
  [EVENT.MARIADB_DELETE_ROWS_COMPRESSED_V1]: EVENT.DELETE_ROWS_V1,
  [EVENT.MARIADB_WRITE_ROWS_COMPRESSED]: EVENT.WRITE_ROWS,
  [EVENT.MARIADB_UPDATE_ROWS_COMPRESSED]: EVENT.UPDATE_ROWS,
  [EVENT.MARIADB_DELETE_ROWS_COMPRESSED]: EVENT.DELETE_ROWS,
};

/** The greatest size that is taken: that of the greatest packet. */
const MAX_SIZE = 1 << 30;

/**
 * The plain form of a compressed event of MariaDB: the fixed part and what comes before the text or the rows stay, the rest is
 * zlib data behind a byte with the number of length bytes in its lower three bits, and the plain length, big-endian.
 */
export function decompressEvent(type: number, bytes: Buffer, start: number, end: number): Buffer {
  const plainType = PLAIN[type] as number;
  const at = plainType === EVENT.QUERY ? sqlOffset(bytes, start) : rowsOffset(plainType, bytes, start, end);
  const head = bytes[at] ?? 0;
  const width = head & 7;
  if ((head & 0xf8) !== 0x80 || width < 1 || width > 4 || at + 1 + width > end) throw damaged();
  const size = bytes.readUIntBE(at + 1, width);
  if (size > MAX_SIZE) throw damaged();
  let content: Buffer;
  try {
    content = inflateSync(bytes.subarray(at + 1 + width, end), { maxOutputLength: Math.max(size, 1) });
  } catch {
    throw damaged();
  }
  if (content.length !== size) throw damaged();
  const plain = Buffer.concat([bytes.subarray(start, at), content]);
  plain[4] = plainType;
  plain.writeUInt32LE(plain.length, 9);
  return plain;
}

/** Rows events are compressed behind the fixed part, the extra data, the number of columns and the bitmaps of present columns. */
function rowsOffset(plainType: number, bytes: Buffer, start: number, end: number): number {
  const reader = new ByteReader(bytes, start + HEADER_SIZE, end);
  reader.take(8);
  if (plainType >= EVENT.WRITE_ROWS) reader.take(reader.u16() - 2);
  const bitmapSize = (reader.lengthEncoded() + 7) >> 3;
  const isUpdate = plainType === EVENT.UPDATE_ROWS || plainType === EVENT.UPDATE_ROWS_V1;
  reader.take(isUpdate ? 2 * bitmapSize : bitmapSize);
  return reader.at;
}

function damaged(): DecodeError {
  return new DecodeError("a compressed event of MariaDB is damaged");
}
