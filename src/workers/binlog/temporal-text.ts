import { write2, write4, writePadded, writeUnsigned32 } from "./integer-text.js";

/**
 * Texts of DATE, TIME, DATETIME and TIMESTAMP as `SELECT` gives them (TIMESTAMP in UTC), zero and partial dates included.
 * The forms with fractions (`…2`) are those of 5.6.4 and later; each function writes at `to` and returns the offset behind.
 */

/** Bytes of a fraction of 0 to 6 digits. */
export function fractionSize(digits: number): number {
  return (digits + 1) >> 1;
}

function writeDateParts(out: Uint8Array, to: number, year: number, month: number, day: number): number {
  to = write4(out, to, year);
  out[to++] = 45;
  to = write2(out, to, month);
  out[to++] = 45;
  return write2(out, to, day);
}

function writeTimeParts(out: Uint8Array, to: number, hour: number, minute: number, second: number): number {
  to = hour < 100 ? write2(out, to, hour) : writeUnsigned32(out, to, hour);
  out[to++] = 58;
  to = write2(out, to, minute);
  out[to++] = 58;
  return write2(out, to, second);
}

function writeMicroseconds(out: Uint8Array, to: number, microseconds: number, digits: number): number {
  if (digits === 0) return to;
  out[to++] = 46;
  return writePadded(out, to, Math.floor(microseconds / 10 ** (6 - digits)), digits);
}

/** The big-endian fraction behind a temporal value, in its own unit (hundredths, ten-thousandths or microseconds). */
function readFraction(bytes: Uint8Array, at: number, digits: number): number {
  switch (fractionSize(digits)) {
    case 0:
      return 0;
    case 1:
      return bytes[at] as number;
    case 2:
      return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
    default:
      return ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
  }
}

/** Microseconds in the unit of a fraction of `digits` digits. */
function fractionUnit(digits: number): number {
  return digits <= 2 ? 10_000 : digits <= 4 ? 100 : 1;
}

/** DATE: 3 bytes, day in the lowest 5 bits, then 4 of the month. */
export function writeDate(out: Uint8Array, to: number, bytes: Uint8Array, at: number): number {
  const value = (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16);
  return writeDateParts(out, to, value >> 9, (value >> 5) & 15, value & 31);
}

/** TIME(n): 3 bytes of 0x800000 + hours (10 bits), minutes and seconds (6 each), and a fraction; all of it one signed number. */
export function writeTime2(out: Uint8Array, to: number, bytes: Uint8Array, at: number, digits: number): number {
  let whole = (((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number)) - 0x80_0000;
  let fraction = readFraction(bytes, at + 3, digits);
  if (whole < 0) {
    out[to++] = 45;
    // The number is whole + fraction / 256^size; its absolute value has to borrow.
    if (fraction === 0) {
      whole = -whole;
    } else {
      whole = -whole - 1;
      fraction = 256 ** fractionSize(digits) - fraction;
    }
  }
  to = writeTimeParts(out, to, whole >> 12, (whole >> 6) & 63, whole & 63);
  return writeMicroseconds(out, to, fraction * fractionUnit(digits), digits);
}

/** DATETIME(n): 5 bytes of 2^39 + year × 13 + month (17 bits), day (5), hour (5), minute (6), second (6), and a fraction. */
export function writeDatetime2(out: Uint8Array, to: number, bytes: Uint8Array, at: number, digits: number): number {
  const yearMonth = (((bytes[at] as number) & 0x7f) << 10) | ((bytes[at + 1] as number) << 2) | ((bytes[at + 2] as number) >> 6);
  const year = Math.floor(yearMonth / 13);
  to = writeDateParts(out, to, year, yearMonth - year * 13, ((bytes[at + 2] as number) >> 1) & 31);
  out[to++] = 32;
  const time = (((bytes[at + 2] as number) & 1) << 16) | ((bytes[at + 3] as number) << 8) | (bytes[at + 4] as number);
  to = writeTimeParts(out, to, time >> 12, (time >> 6) & 63, time & 63);
  return digits === 0 ? to : writeMicroseconds(out, to, readFraction(bytes, at + 5, digits) * fractionUnit(digits), digits);
}

const SECONDS_A_DAY = 86_400;

/** Writes TIMESTAMP values; remembers the calendar date of the last day. */
export class TimestampWriter {
  private day = -1;
  private readonly date = new Uint8Array(10);

  /** TIMESTAMP(n): 4 bytes of seconds since the epoch, big-endian, and a fraction. */
  write2(out: Uint8Array, to: number, bytes: Uint8Array, at: number, digits: number): number {
    const seconds = ((bytes[at] as number) * 0x100_0000 + (((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8))) + (bytes[at + 3] as number);
    const fraction = readFraction(bytes, at + 4, digits);
    to = this.writeSeconds(out, to, seconds, seconds === 0 && fraction === 0);
    return writeMicroseconds(out, to, fraction * fractionUnit(digits), digits);
  }

  /** The TIMESTAMP of before 5.6.4: little-endian, no fraction. */
  writeOld(out: Uint8Array, to: number, bytes: Uint8Array, at: number): number {
    const seconds = (bytes[at + 3] as number) * 0x100_0000 + (((bytes[at + 2] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at] as number));
    return this.writeSeconds(out, to, seconds, seconds === 0);
  }

  private writeSeconds(out: Uint8Array, to: number, seconds: number, zero: boolean): number {
    if (zero) {
      to = writeDateParts(out, to, 0, 0, 0);
      out[to++] = 32;
      return writeTimeParts(out, to, 0, 0, 0);
    }
    const day = Math.floor(seconds / SECONDS_A_DAY);
    if (day !== this.day) {
      const date = new Date(day * SECONDS_A_DAY * 1000);
      writeDateParts(this.date, 0, date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate());
      this.day = day;
    }
    for (let i = 0; i < 10; i++) out[to + i] = this.date[i] as number;
    to += 10;
    out[to++] = 32;
    const time = seconds - day * SECONDS_A_DAY;
    const hour = (time / 3600) | 0;
    const minute = ((time - hour * 3600) / 60) | 0;
    return writeTimeParts(out, to, hour, minute, time - hour * 3600 - minute * 60);
  }
}

/** The TIME of before 5.6.4: a signed 3-byte number hhmmss. */
export function writeOldTime(out: Uint8Array, to: number, bytes: Uint8Array, at: number): number {
  let value = ((bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16)) << 8 >> 8;
  if (value < 0) {
    out[to++] = 45;
    value = -value;
  }
  const hour = (value / 10_000) | 0;
  return writeTimeParts(out, to, hour, ((value / 100) | 0) % 100, value % 100);
}

/** The DATETIME of before 5.6.4: an 8-byte number YYYYMMDDhhmmss. */
export function writeOldDatetime(out: Uint8Array, to: number, bytes: Buffer, at: number): number {
  const value = bytes.readUInt32LE(at + 4) * 4294967296 + bytes.readUInt32LE(at);
  const date = Math.floor(value / 1_000_000);
  const time = value - date * 1_000_000;
  to = writeDateParts(out, to, Math.floor(date / 10_000), Math.floor(date / 100) % 100, date % 100);
  out[to++] = 32;
  return writeTimeParts(out, to, Math.floor(time / 10_000), Math.floor(time / 100) % 100, time % 100);
}

/** Fields of the 64-bit packed form in JSON values: `datetime` as DATETIME or DATE, else TIME. Microseconds always have six digits. */
export function packedText(kind: "date" | "time" | "datetime", packed: bigint): string {
  const size = packed < 0n ? -packed : packed;
  const microseconds = Number(size & 0xff_ffffn);
  const whole = Number(size >> 24n);
  const text = Buffer.alloc(40);
  let to = packed < 0n ? text.write("-") : 0;
  const clock = whole % 0x2_0000;
  if (kind === "time") {
    to = writeTimeParts(text, to, (whole >> 12) & 0x3ff, (whole >> 6) & 63, whole & 63);
    return text.toString("latin1", 0, writeMicroseconds(text, to, microseconds, 6));
  }
  const date = Math.floor(whole / 0x2_0000);
  const yearMonth = date >> 5;
  to = writeDateParts(text, to, Math.floor(yearMonth / 13), yearMonth % 13, date & 31);
  if (kind === "date") return text.toString("latin1", 0, to);
  text[to++] = 32;
  to = writeTimeParts(text, to, clock >> 12, (clock >> 6) & 63, clock & 63);
  return text.toString("latin1", 0, writeMicroseconds(text, to, microseconds, 6));
}
