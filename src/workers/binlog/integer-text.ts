/** Decimal text of integers, written in place. Each function writes at `at` and returns the offset behind. */

/** The two digits of 0 to 99. */
const TENS = Uint8Array.from({ length: 100 }, (_, i) => 48 + Math.floor(i / 10));
const ONES = Uint8Array.from({ length: 100 }, (_, i) => 48 + (i % 10));

const BILLION = 1_000_000_000;

/** `value` from 0 to 99 as two digits. */
export function write2(out: Uint8Array, at: number, value: number): number {
  out[at] = TENS[value] as number;
  out[at + 1] = ONES[value] as number;
  return at + 2;
}

/** `value` from 0 to 9999 as four digits. */
export function write4(out: Uint8Array, at: number, value: number): number {
  const high = (value / 100) | 0;
  write2(out, at, high);
  return write2(out, at + 2, value - high * 100);
}

/** The lowest `width` digits of `value`, with leading zeros. */
export function writePadded(out: Uint8Array, at: number, value: number, width: number): number {
  let place = at + width;
  while (place - at >= 2) {
    const rest = Math.floor(value / 100);
    place -= 2;
    write2(out, place, value - rest * 100);
    value = rest;
  }
  if (place > at) out[at] = 48 + (value % 10);
  return at + width;
}

/** `value` from 0 to 2^32 - 1. */
export function writeUnsigned32(out: Uint8Array, at: number, value: number): number {
  if (value < 10) {
    out[at] = 48 + value;
    return at + 1;
  }
  let width: number;
  if (value < 100_000) width = value < 100 ? 2 : value < 1000 ? 3 : value < 10_000 ? 4 : 5;
  else if (value < 100_000_000) width = value < 1_000_000 ? 6 : value < 10_000_000 ? 7 : 8;
  else width = value < BILLION ? 9 : 10;
  let place = at + width;
  while (value >= 100) {
    const rest = (value / 100) >>> 0;
    const pair = value - rest * 100;
    out[--place] = ONES[pair] as number;
    out[--place] = TENS[pair] as number;
    value = rest;
  }
  if (value >= 10) {
    out[at] = TENS[value] as number;
    out[at + 1] = ONES[value] as number;
  } else {
    out[at] = 48 + value;
  }
  return at + width;
}

export function writeSigned32(out: Uint8Array, at: number, value: number): number {
  if (value >= 0) return writeUnsigned32(out, at, value);
  out[at] = 45;
  return writeUnsigned32(out, at + 1, -value);
}

/** `high` × 2^32 + `low`, both unsigned. */
export function writeUnsigned64(out: Uint8Array, at: number, high: number, low: number): number {
  if (high === 0) return writeUnsigned32(out, at, low);
  // Long division by 10^9 in steps of 16 bits: every intermediate value stays below 2^53.
  const top = Math.floor(high / BILLION);
  const middle = (high - top * BILLION) * 65536 + (low >>> 16);
  const middleQuotient = Math.floor(middle / BILLION);
  const bottom = (middle - middleQuotient * BILLION) * 65536 + (low & 0xffff);
  const bottomQuotient = Math.floor(bottom / BILLION);
  const quotient = top * 4294967296 + middleQuotient * 65536 + bottomQuotient;
  if (quotient < BILLION) {
    at = writeUnsigned32(out, at, quotient);
  } else {
    const first = Math.floor(quotient / BILLION);
    at = writePadded(out, writeUnsigned32(out, at, first), quotient - first * BILLION, 9);
  }
  return writePadded(out, at, bottom - bottomQuotient * BILLION, 9);
}

/** The two's complement integer of `high` and `low`, both given unsigned. */
export function writeSigned64(out: Uint8Array, at: number, high: number, low: number): number {
  if (high < 0x8000_0000) return writeUnsigned64(out, at, high, low);
  out[at] = 45;
  const negatedLow = -low >>> 0;
  const negatedHigh = (~high + (low === 0 ? 1 : 0)) >>> 0;
  return writeUnsigned64(out, at + 1, negatedHigh, negatedLow);
}
