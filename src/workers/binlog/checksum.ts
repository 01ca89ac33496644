import { crc32 } from "node:zlib";
import { DecodeError } from "./decode-error.js";

/** Bytes that a CRC32 takes at the end of each event, where the file's format description says so. */
export const CHECKSUM_SIZE = 4;

/**
 * Most events are shorter than this (bytes): a table look-up (1.2 ns a byte) beats the call into zlib (250 ns and a view), which took 40 % of
 * the time of small transactions.
 */
const SHORT_EVENT = 200;

/** CRC tables for "slicing by four": entry k × 256 + b is the CRC of byte b and k zero bytes behind it. */
const TABLES = makeTables();

function makeTables(): Int32Array {
  const tables = new Int32Array(4 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
    tables[byte] = crc;
  }
  for (let i = 256; i < tables.length; i++) {
    const before = tables[i - 256] as number;
    tables[i] = (before >>> 8) ^ (tables[before & 0xff] as number);
  }
  return tables;
}

/** The CRC32 of `bytes[at, end)` as a signed number. */
export function shortCrc32(bytes: Uint8Array, at: number, end: number): number {
  let crc = -1;
  for (; end - at >= 4; at += 4) {
    crc ^= (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24);
    crc =
      (TABLES[768 + (crc & 0xff)] as number) ^
      (TABLES[512 + ((crc >>> 8) & 0xff)] as number) ^
      (TABLES[256 + ((crc >>> 16) & 0xff)] as number) ^
      (TABLES[crc >>> 24] as number);
  }
  for (; at < end; at++) crc = (TABLES[(crc ^ (bytes[at] as number)) & 0xff] as number) ^ (crc >>> 8);
  return ~crc;
}

/** @throws DecodeError when the last four bytes of the event are not the CRC32 of the ones before. */
export function verifyChecksum(bytes: Buffer, start: number, end: number): void {
  const body = end - CHECKSUM_SIZE;
  const expected = (bytes[body] as number) | ((bytes[body + 1] as number) << 8) | ((bytes[body + 2] as number) << 16) | ((bytes[body + 3] as number) << 24);
  const found = body - start < SHORT_EVENT ? shortCrc32(bytes, start, body) : crc32(bytes.subarray(start, body)) | 0;
  if (found !== expected) throw new DecodeError("an event's checksum is wrong: it was damaged on disk or on its way");
}
