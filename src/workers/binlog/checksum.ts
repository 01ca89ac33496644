import { crc32 } from "node:zlib";
import { DecodeError } from "./decode-error.js";

/** Bytes that a CRC32 takes at the end of each event, where the file's format description says so. */
export const CHECKSUM_SIZE = 4;

/** @throws DecodeError when the last four bytes of the event are not the CRC32 of the ones before. */
export function verifyChecksum(bytes: Buffer, start: number, end: number): void {
  const body = end - CHECKSUM_SIZE;
  const expected = (bytes[body] as number) | ((bytes[body + 1] as number) << 8) | ((bytes[body + 2] as number) << 16) | ((bytes[body + 3] as number) << 24);
  if ((crc32(bytes.subarray(start, body)) | 0) !== expected) {
    throw new DecodeError("an event's checksum is wrong: it was damaged on disk or on its way");
  }
}
