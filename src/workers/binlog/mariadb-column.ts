import { inflateRawSync, inflateSync } from "node:zlib";
import { DecodeError } from "./decode-error.js";

/** Bits of the first byte of a value: the method, and for zlib the number of length bytes and whether the data lack zlib's own head and checksum. */
const METHOD = 0xf0;
const PLAIN = 0x00;
const ZLIB = 0x80;
const RAW = 0x08;
const LENGTH_BYTES = 0x07;

/**
 * The value of a MariaDB column that is `COMPRESSED` (sql/field_comp.cc): nothing for an empty string, else a byte that says how, and
 * the bytes as they are or their length, big-endian, and the zlib data. Server and binlog hold the same form.
 */
export function decompressColumn(bytes: Buffer, at: number, length: number): Buffer {
  if (length === 0) return bytes.subarray(at, at);
  const head = bytes[at] as number;
  if ((head & METHOD) === PLAIN) return bytes.subarray(at + 1, at + length);
  const width = head & LENGTH_BYTES;
  if ((head & METHOD) !== ZLIB || width < 1 || width > 4 || length < 1 + width) throw damaged();
  const size = bytes.readUIntBE(at + 1, width);
  const data = bytes.subarray(at + 1 + width, at + length);
  let value: Buffer;
  try {
    value = (head & RAW ? inflateRawSync : inflateSync)(data, { maxOutputLength: Math.max(size, 1) });
  } catch {
    throw damaged();
  }
  if (value.length !== size) throw damaged();
  return value;
}

function damaged(): DecodeError {
  return new DecodeError("a value of a COMPRESSED column is damaged");
}
