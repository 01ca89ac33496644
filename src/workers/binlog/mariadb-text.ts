import { writeUnsigned32 } from "./integer-text.js";

/** Texts of MariaDB's UUID, INET4 and INET6, which the binlog holds as BINARY of 16 and 4 bytes. Each function gives the offset behind the text. */

const HEX = Buffer.from("0123456789abcdef", "latin1");

/** Positions of the bytes that a dash stands before. */
const DASHES = new Set([4, 6, 8, 10]);

export function writeUuid(out: Uint8Array, to: number, bytes: Uint8Array): number {
  for (let i = 0; i < 16; i++) {
    if (DASHES.has(i)) out[to++] = 45;
    const byte = bytes[i] as number;
    out[to++] = HEX[byte >> 4] as number;
    out[to++] = HEX[byte & 15] as number;
  }
  return to;
}

export function writeInet4(out: Uint8Array, to: number, bytes: Uint8Array, at = 0): number {
  for (let i = 0; i < 4; i++) {
    if (i > 0) out[to++] = 46;
    to = writeUnsigned32(out, to, bytes[at + i] as number);
  }
  return to;
}

/**
 * As `Inet6::to_string` of MariaDB: the first of the longest runs of zero words becomes `::`, even one of a single word (unlike RFC 5952);
 * IPv4-compatible and -mapped addresses end in dots.
 */
export function writeInet6(out: Uint8Array, to: number, bytes: Uint8Array): number {
  const words = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] as number) << 8) | (bytes[2 * i + 1] as number));
  const gap = longestZeros(words);
  for (let i = 0; i < 8; i++) {
    if (i === gap.at) {
      if (i === 0) out[to++] = 58;
      out[to++] = 58;
      i += gap.length - 1;
    } else if (i === 6 && gap.at === 0 && (gap.length === 6 || (gap.length === 5 && words[5] === 0xffff))) {
      return writeInet4(out, to, bytes, 12);
    } else {
      for (const digit of (words[i] as number).toString(16)) out[to++] = digit.charCodeAt(0);
      if (i < 7) out[to++] = 58;
    }
  }
  return to;
}

function longestZeros(words: readonly number[]): { at: number; length: number } {
  let longest = { at: -1, length: 0 };
  for (let i = 0; i < words.length; i++) {
    let length = 0;
    while (words[i + length] === 0) length++;
    if (length > longest.length) longest = { at: i, length };
    i += length;
  }
  return longest;
}
