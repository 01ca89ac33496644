import { writePadded, writeUnsigned32 } from "./integer-text.js";

/** Bytes that 0 to 9 decimal digits take (`dig2bytes` of strings/decimal.cc). */
const DIGIT_BYTES = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4] as const;

/** Bytes of a binary DECIMAL. */
export function decimalSize(precision: number, scale: number): number {
  const whole = precision - scale;
  return Math.floor(whole / 9) * 4 + (DIGIT_BYTES[whole % 9] as number) + Math.floor(scale / 9) * 4 + (DIGIT_BYTES[scale % 9] as number);
}

/**
 * Writes the text of the binary DECIMAL at `at` of `bytes` as `SELECT` gives it: no leading zeros but at least one digit
 * before the point, all of the scale behind it. The form is big-endian groups of nine digits, a shorter group outermost
 * on each side; the highest bit is inverted, and all bits of a negative number are.
 * @returns the offset behind the text
 */
export function writeDecimal(out: Uint8Array, to: number, bytes: Uint8Array, at: number, precision: number, scale: number): number {
  const negative = ((bytes[at] as number) & 0x80) === 0;
  const mask = negative ? 0xff : 0;
  if (negative) out[to++] = 45;
  const whole = precision - scale;
  let flip = 0x80;
  let started = false;
  let digits = whole % 9 === 0 ? 9 : whole % 9;
  for (let left = whole; left > 0; left -= digits, digits = 9) {
    if (left < digits) digits = left;
    const size = DIGIT_BYTES[digits] as number;
    let group = 0;
    for (let i = 0; i < size; i++) {
      group = group * 256 + (((bytes[at++] as number) ^ mask ^ flip) & 0xff);
      flip = 0;
    }
    if (started) to = writePadded(out, to, group, digits);
    else if (group !== 0) {
      to = writeUnsigned32(out, to, group);
      started = true;
    }
  }
  if (!started) out[to++] = 48;
  if (scale === 0) return to;
  out[to++] = 46;
  for (let left = scale; left > 0; left -= 9) {
    const width = left < 9 ? left : 9;
    const size = DIGIT_BYTES[width] as number;
    let group = 0;
    for (let i = 0; i < size; i++) {
      group = group * 256 + (((bytes[at++] as number) ^ mask ^ flip) & 0xff);
      flip = 0;
    }
    to = writePadded(out, to, group, width);
  }
  return to;
}
