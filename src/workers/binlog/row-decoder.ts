import { NULL_CELL, writePrefix } from "../../shared/columns/text-row.js";
import { DecodeError } from "./decode-error.js";
import { decimalSize, writeDecimal } from "./decimal-text.js";
import { decompressColumn } from "./mariadb-column.js";
import { doubleText } from "./double-text.js";
import { write4, writeSigned32, writeSigned64, writeUnsigned32, writeUnsigned64 } from "./integer-text.js";
import { writeJson } from "./json-text.js";
import { writeInet4, writeInet6, writeUuid } from "./mariadb-text.js";
import { Op, type RowPlan } from "./row-ops.js";
import { fractionSize, TimestampWriter, writeDate, writeDatetime2, writeOldDatetime, writeOldTime, writeTime2 } from "./temporal-text.js";
import { TextBuffer } from "./text-buffer.js";

/** Up to this many bytes a loop copies faster than the call into the runtime. */
const SHORT_COPY = 48;
/** Rows up to this length reuse their view of the buffer. */
const CACHED_VIEWS = 2048;

const FLOAT = new Float32Array(1);
const FLOAT_BYTES = new Uint8Array(FLOAT.buffer);
const DOUBLE = new Float64Array(1);
const DOUBLE_BYTES = new Uint8Array(DOUBLE.buffer);

/** Turns row images into text rows in its own buffer; the row lies at its beginning until the next call. */
export class RowDecoder {
  private readonly text = new TextBuffer(16384);
  private readonly json = new TextBuffer();
  private readonly ordered = new TextBuffer();
  private readonly timestamps = new TimestampWriter();
  private readonly binary = Buffer.alloc(16);
  /** Where each decoded cell begins, and behind the last one the row's end. */
  private starts = new Int32Array(64);
  private views: (Buffer | undefined)[] = [];
  private viewed: Buffer | null = null;

  /** The bytes that hold the current row. */
  row!: Buffer;
  /** Where each cell of the current row begins; behind the last cell the row's end. */
  cellStarts!: Int32Array;
  /** Which of the image's columns is being decoded, or was when decoding failed. */
  column = 0;

  /** The current row as a buffer, valid until the next one is decoded. */
  view(plan: RowPlan): Buffer {
    const row = this.row;
    const length = this.cellStarts[plan.cells] as number;
    if (length >= CACHED_VIEWS) return row.subarray(0, length);
    if (this.viewed !== row) {
      this.viewed = row;
      this.views = [];
    }
    return (this.views[length] ??= row.subarray(0, length));
  }

  /** Gives back memory after huge rows; the current row is gone. */
  trim(): void {
    this.text.trim();
    this.json.trim();
    this.ordered.trim();
  }

  /** Decodes the image at `at`, which ends no later than `end`; returns the offset behind it. */
  decode(plan: RowPlan, bytes: Buffer, at: number, end: number): number {
    const { ops, a, b } = plan;
    const count = ops.length;
    const text = this.text;
    text.clear();
    let out = text.reserve(plan.extra + (end - at));
    let to = 0;
    if (this.starts.length <= plan.cells) this.starts = new Int32Array(plan.cells * 2 + 2);
    const starts = this.starts;
    let cell = 0;
    const nulls = at;
    at += (count + 7) >> 3;
    for (let i = 0; i < count; i++) {
      const op = ops[i] as number;
      this.column = i;
      const isCell = op >= Op.FirstCell;
      if (isCell) starts[cell++] = to;
      if (((bytes[nulls + (i >> 3)] as number) & (1 << (i & 7))) !== 0) {
        if (isCell) out[to++] = NULL_CELL;
        continue;
      }
      switch (op) {
        case Op.SkipFixed:
          at += a[i] as number;
          break;
        case Op.SkipLength1:
          at += 1 + (bytes[at] as number);
          break;
        case Op.SkipLength2:
          at += 2 + ((bytes[at] as number) | ((bytes[at + 1] as number) << 8));
          break;
        case Op.SkipLength3:
          at += 3 + ((bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16));
          break;
        case Op.SkipLength4:
          at += 4 + bytes.readUInt32LE(at);
          break;

        case Op.Signed8: {
          const next = writeSigned32(out, to + 1, ((bytes[at] as number) << 24) >> 24);
          out[to] = next - to - 1;
          to = next;
          at += 1;
          break;
        }
        case Op.Unsigned8: {
          const next = writeUnsigned32(out, to + 1, bytes[at] as number);
          out[to] = next - to - 1;
          to = next;
          at += 1;
          break;
        }
        case Op.Signed16: {
          const next = writeSigned32(out, to + 1, (((bytes[at] as number) | ((bytes[at + 1] as number) << 8)) << 16) >> 16);
          out[to] = next - to - 1;
          to = next;
          at += 2;
          break;
        }
        case Op.Unsigned16: {
          const next = writeUnsigned32(out, to + 1, (bytes[at] as number) | ((bytes[at + 1] as number) << 8));
          out[to] = next - to - 1;
          to = next;
          at += 2;
          break;
        }
        case Op.Signed24: {
          const value = ((bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16)) << 8;
          const next = writeSigned32(out, to + 1, value >> 8);
          out[to] = next - to - 1;
          to = next;
          at += 3;
          break;
        }
        case Op.Unsigned24: {
          const next = writeUnsigned32(out, to + 1, (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16));
          out[to] = next - to - 1;
          to = next;
          at += 3;
          break;
        }
        case Op.Signed32: {
          const value =
            (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24);
          const next = writeSigned32(out, to + 1, value);
          out[to] = next - to - 1;
          to = next;
          at += 4;
          break;
        }
        case Op.Unsigned32: {
          const value =
            (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24);
          const next = writeUnsigned32(out, to + 1, value >>> 0);
          out[to] = next - to - 1;
          to = next;
          at += 4;
          break;
        }
        case Op.Signed64: {
          const next = writeSigned64(out, to + 1, bytes.readUInt32LE(at + 4), bytes.readUInt32LE(at));
          out[to] = next - to - 1;
          to = next;
          at += 8;
          break;
        }
        case Op.Unsigned64: {
          const next = writeUnsigned64(out, to + 1, bytes.readUInt32LE(at + 4), bytes.readUInt32LE(at));
          out[to] = next - to - 1;
          to = next;
          at += 8;
          break;
        }

        case Op.Bytes1: {
          const length = bytes[at++] as number;
          to = writeLength(out, to, length);
          if (length <= SHORT_COPY) for (let k = 0; k < length; k++) out[to + k] = bytes[at + k] as number;
          else copyBytes(bytes, out, to, at, length);
          to += length;
          at += length;
          break;
        }
        case Op.Bytes2:
        case Op.Bytes3:
        case Op.Bytes4: {
          const width = op - Op.Bytes1 + 1;
          const length = width === 2 ? (bytes[at] as number) | ((bytes[at + 1] as number) << 8) : bytes.readUIntLE(at, width);
          at += width;
          if (length > end - at) throw imageTooShort();
          to = writeLength(out, to, length);
          if (length <= SHORT_COPY) for (let k = 0; k < length; k++) out[to + k] = bytes[at + k] as number;
          else copyBytes(bytes, out, to, at, length);
          to += length;
          at += length;
          break;
        }
        case Op.Padded1:
        case Op.Padded2: {
          let length = bytes[at++] as number;
          if (op === Op.Padded2) length |= (bytes[at++] as number) << 8;
          const width = a[i] as number;
          if (length > width || length > end - at) throw imageTooShort();
          to = writeLength(out, to, width);
          copyBytes(bytes, out, to, at, length);
          out.fill(0, to + length, to + width);
          to += width;
          at += length;
          break;
        }

        case Op.Float: {
          for (let k = 0; k < 4; k++) FLOAT_BYTES[k] = bytes[at + k] as number;
          at += 4;
          // As `f * 1e0` gives it: the text of the widened double, not the rounded one of a FLOAT.
          to = writeAscii(out, to, doubleText(FLOAT[0] as number));
          break;
        }
        case Op.Double: {
          for (let k = 0; k < 8; k++) DOUBLE_BYTES[k] = bytes[at + k] as number;
          at += 8;
          to = writeAscii(out, to, doubleText(DOUBLE[0] as number));
          break;
        }
        case Op.Decimal: {
          const precision = a[i] as number;
          const scale = b[i] as number;
          const next = writeDecimal(out, to + 1, bytes, at, precision, scale);
          out[to] = next - to - 1;
          to = next;
          at += decimalSize(precision, scale);
          break;
        }
        case Op.Year: {
          const year = bytes[at++] as number;
          out[to] = 4;
          to = write4(out, to + 1, year === 0 ? 0 : 1900 + year);
          break;
        }
        case Op.Date:
          out[to] = 10;
          to = writeDate(out, to + 1, bytes, at);
          at += 3;
          break;
        case Op.Time2: {
          const digits = a[i] as number;
          const next = writeTime2(out, to + 1, bytes, at, digits);
          out[to] = next - to - 1;
          to = next;
          at += 3 + fractionSize(digits);
          break;
        }
        case Op.Datetime2: {
          const digits = a[i] as number;
          const next = writeDatetime2(out, to + 1, bytes, at, digits);
          out[to] = next - to - 1;
          to = next;
          at += 5 + fractionSize(digits);
          break;
        }
        case Op.Timestamp2: {
          const digits = a[i] as number;
          const next = this.timestamps.write2(out, to + 1, bytes, at, digits);
          out[to] = next - to - 1;
          to = next;
          at += 4 + fractionSize(digits);
          break;
        }
        case Op.OldTime: {
          const next = writeOldTime(out, to + 1, bytes, at);
          out[to] = next - to - 1;
          to = next;
          at += 3;
          break;
        }
        case Op.OldDatetime: {
          const next = writeOldDatetime(out, to + 1, bytes, at);
          out[to] = next - to - 1;
          to = next;
          at += 8;
          break;
        }
        case Op.OldTimestamp: {
          const next = this.timestamps.writeOld(out, to + 1, bytes, at);
          out[to] = next - to - 1;
          to = next;
          at += 4;
          break;
        }
        case Op.Bit: {
          const size = a[i] as number;
          out[to++] = size;
          for (let k = 0; k < size; k++) out[to++] = bytes[at + k] as number;
          at += size;
          break;
        }
        case Op.Json: {
          const length = bytes.readUInt32LE(at);
          at += 4;
          if (length > end - at) throw imageTooShort();
          const json = this.json;
          json.clear();
          writeJson(json, bytes, at, at + length);
          at += length;
          out = this.longCell(plan, to, json.bytes.subarray(0, json.length), end - at);
          to = text.length;
          break;
        }
        case Op.Compressed1:
        case Op.Compressed2:
        case Op.Compressed3:
        case Op.Compressed4: {
          const width = op - Op.Compressed1 + 1;
          const length = bytes.readUIntLE(at, width);
          at += width;
          if (length > end - at) throw imageTooShort();
          const value = decompressColumn(bytes, at, length);
          at += length;
          out = this.longCell(plan, to, value, end - at);
          to = text.length;
          break;
        }
        case Op.Uuid:
        case Op.Inet4:
        case Op.Inet6: {
          const length = bytes[at++] as number;
          if (length > 16) throw imageTooShort();
          const value = this.binary.fill(0);
          bytes.copy(value, 0, at, at + length);
          at += length;
          const next = op === Op.Uuid ? writeUuid(out, to + 1, value) : op === Op.Inet4 ? writeInet4(out, to + 1, value) : writeInet6(out, to + 1, value);
          out[to] = next - to - 1;
          to = next;
          break;
        }
        default:
          throw new DecodeError(`a column has the unknown operation ${op}`);
      }
    }
    if (!(at <= end)) throw imageTooShort();
    starts[cell] = to;
    text.length = to;
    this.row = out;
    this.cellStarts = starts;
    if (plan.order !== null) this.reorder(plan.order);
    return at;
  }

  /** Appends a cell that may be longer than its form in the binlog by any factor, so room is made anew for it and the `left` bytes behind it. */
  private longCell(plan: RowPlan, to: number, value: Buffer, left: number): Buffer {
    const text = this.text;
    text.length = to;
    const out = text.reserve(value.length + plan.extra + left);
    to = writePrefix(out, to, value.length);
    text.length = to + value.copy(out, to);
    return out;
  }

  /** Puts the cells into the order in which they are wanted. */
  private reorder(order: Int32Array): void {
    const { row, cellStarts, ordered } = this;
    const starts = new Int32Array(order.length + 1);
    ordered.clear();
    for (let i = 0; i < order.length; i++) {
      const cell = order[i] as number;
      starts[i] = ordered.length;
      ordered.copy(row, cellStarts[cell] as number, cellStarts[cell + 1] as number);
    }
    starts[order.length] = ordered.length;
    this.row = ordered.bytes;
    this.cellStarts = starts;
  }
}

function writeLength(out: Buffer, to: number, length: number): number {
  if (length < 251) {
    out[to] = length;
    return to + 1;
  }
  return writePrefix(out, to, length);
}

function writeAscii(out: Uint8Array, to: number, text: string): number {
  const length = text.length;
  out[to++] = length;
  for (let i = 0; i < length; i++) out[to + i] = text.charCodeAt(i);
  return to + length;
}

function copyBytes(bytes: Buffer, out: Buffer, to: number, at: number, length: number): void {
  bytes.copy(out, to, at, at + length);
}

function imageTooShort(): DecodeError {
  return new DecodeError("a row image ends too early");
}
