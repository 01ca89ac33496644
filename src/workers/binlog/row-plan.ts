import { DecodeError } from "./decode-error.js";
import { decimalSize } from "./decimal-text.js";
import type { BinlogColumn, CellFormat } from "./events.js";
import { Op, type RowPlan } from "./row-ops.js";
import { fractionSize } from "./temporal-text.js";
import { BINARY_COLLATION, TYPE, typeName } from "./type-codes.js";

/** How one column is read, and how to pass over it. */
interface ColumnPlan {
  op: Op;
  a: number;
  b: number;
  skip: Op;
  /** Bytes to skip when `skip` is `SkipFixed`. */
  size: number;
  /** Greatest length of the cell beyond the column's own bytes, its prefix included. */
  extra: number;
}

/** Digits of the longest DECIMAL. */
const MAX_PRECISION = 65;
/** The longest prefix of a cell. */
const PREFIX = 9;

/**
 * The plan for images that have the columns `present` (null for all), and from which the columns `wanted` are to be
 * taken in that order.
 * @throws DecodeError when a column is of a type that cannot be decoded, or a wanted one is not there
 */
export function planRow(
  table: string,
  columns: readonly BinlogColumn[],
  present: readonly number[] | null,
  wanted: readonly number[],
  formats: readonly (CellFormat | null)[] = [],
): RowPlan {
  const ordinals = present ?? columns.map((_, i) => i);
  if (ordinals.length === 0) throw new DecodeError(`row images of ${table} have no columns`);
  const ops = new Uint8Array(ordinals.length);
  const a = new Int32Array(ordinals.length);
  const b = new Int32Array(ordinals.length);
  const cellOf = new Map<number, number>();
  const isWanted = new Set(wanted);
  let extra = PREFIX;
  for (const [i, ordinal] of ordinals.entries()) {
    const column = columns[ordinal] as BinlogColumn;
    const plan = planColumn(table, column, formats[wanted.indexOf(ordinal)] ?? null);
    if (isWanted.has(ordinal)) {
      cellOf.set(ordinal, cellOf.size);
      ops[i] = plan.op;
      a[i] = plan.a;
      b[i] = plan.b;
      extra += plan.extra;
    } else {
      ops[i] = plan.skip;
      a[i] = plan.size;
    }
  }
  const order = wanted.map((ordinal) => {
    const cell = cellOf.get(ordinal);
    if (cell !== undefined) return cell;
    const name = columns[ordinal]?.name;
    if (name === undefined) throw new DecodeError(`${table} has no column ${ordinal + 1}`, undefined, "BUG");
    throw new DecodeError(
      `a row image of ${table} does not have the column ${name}`,
      "set binlog_row_image=FULL on the source, globally and in sessions that set their own, and start the migration anew",
    );
  });
  const inOrder = order.every((cell, i) => cell === i);
  return { present, ops, a, b, extra, cells: wanted.length, order: inOrder ? null : Int32Array.from(order) };
}

function planColumn(table: string, column: BinlogColumn, format: CellFormat | null): ColumnPlan {
  const { type, metadata, unsigned } = column;
  if (format !== null && type === TYPE.STRING && metadata === FORMATS[format].size) return { ...lengthed(Op.Padded1, 1), op: FORMATS[format].op, extra: 48 };
  switch (type) {
    case TYPE.TINY:
      return fixed(unsigned ? Op.Unsigned8 : Op.Signed8, 1, 5);
    case TYPE.SHORT:
      return fixed(unsigned ? Op.Unsigned16 : Op.Signed16, 2, 7);
    case TYPE.INT24:
      return fixed(unsigned ? Op.Unsigned24 : Op.Signed24, 3, 9);
    case TYPE.LONG:
      return fixed(unsigned ? Op.Unsigned32 : Op.Signed32, 4, 12);
    case TYPE.LONGLONG:
      return fixed(unsigned ? Op.Unsigned64 : Op.Signed64, 8, 22);
    case TYPE.FLOAT:
      if (metadata === 4) return fixed(Op.Float, 4, 30);
      break;
    case TYPE.DOUBLE:
      if (metadata === 8) return fixed(Op.Double, 8, 30);
      break;
    case TYPE.NEWDECIMAL: {
      const precision = metadata >> 8;
      const scale = metadata & 0xff;
      if (precision < 1 || precision > MAX_PRECISION || scale > precision) break;
      return { ...fixed(Op.Decimal, decimalSize(precision, scale), 80), a: precision, b: scale };
    }
    case TYPE.YEAR:
      return fixed(Op.Year, 1, 5);
    case TYPE.DATE:
    case TYPE.NEWDATE:
      return fixed(Op.Date, 3, 11);
    case TYPE.TIME2:
      if (metadata > 6) break;
      return { ...fixed(Op.Time2, 3 + fractionSize(metadata), 20), a: metadata };
    case TYPE.DATETIME2:
      if (metadata > 6) break;
      return { ...fixed(Op.Datetime2, 5 + fractionSize(metadata), 30), a: metadata };
    case TYPE.TIMESTAMP2:
      if (metadata > 6) break;
      return { ...fixed(Op.Timestamp2, 4 + fractionSize(metadata), 30), a: metadata };
    case TYPE.TIME:
      return fixed(Op.OldTime, 3, 20);
    case TYPE.DATETIME:
      return fixed(Op.OldDatetime, 8, 30);
    case TYPE.TIMESTAMP:
      return fixed(Op.OldTimestamp, 4, 30);
    case TYPE.BIT:
      if (metadata < 1 || metadata > 64) break;
      return fixed(Op.Bit, (metadata + 7) >> 3, 1);
    case TYPE.ENUM:
    case TYPE.SET:
      // As `column + 0` gives them: the member's number, or the sum of the members' bits.
      if (NUMBER_OPS[metadata] !== undefined) return fixed(NUMBER_OPS[metadata], metadata, 22);
      break;
    case TYPE.STRING: {
      const short = metadata < 256;
      if (column.collation === BINARY_COLLATION) {
        return { ...lengthed(short ? Op.Padded1 : Op.Padded2, short ? 1 : 2), a: metadata, extra: metadata + PREFIX };
      }
      return lengthed(short ? Op.Bytes1 : Op.Bytes2, short ? 1 : 2);
    }
    case TYPE.VARCHAR:
    case TYPE.VAR_STRING:
      return metadata < 256 ? lengthed(Op.Bytes1, 1) : lengthed(Op.Bytes2, 2);
    case TYPE.BLOB:
    case TYPE.GEOMETRY:
    case TYPE.VECTOR:
      if (metadata >= 1 && metadata <= 4) return lengthed(Op.Bytes1 + metadata - 1, metadata);
      break;
    case TYPE.JSON:
      if (metadata === 4) return lengthed(Op.Json, 4);
      break;
    case TYPE.MARIADB_VARCHAR_COMPRESSED:
      return compressed(metadata < 256 ? 1 : 2);
    case TYPE.MARIADB_BLOB_COMPRESSED:
      if (metadata >= 1 && metadata <= 4) return compressed(metadata);
      break;
  }
  throw new DecodeError(`the column ${column.name} of ${table} has a type that cannot be decoded: ${typeName(type)} (code ${type}, metadata ${metadata})`);
}

const FORMATS: Record<CellFormat, { op: Op; size: number }> = { uuid: { op: Op.Uuid, size: 16 }, inet4: { op: Op.Inet4, size: 4 }, inet6: { op: Op.Inet6, size: 16 } };

const NUMBER_OPS: Record<number, Op> = { 1: Op.Unsigned8, 2: Op.Unsigned16, 3: Op.Unsigned24, 4: Op.Unsigned32, 8: Op.Unsigned64 };

function fixed(op: Op, size: number, extra: number): ColumnPlan {
  return { op, a: size, b: 0, skip: Op.SkipFixed, size, extra };
}

function compressed(width: number): ColumnPlan {
  return { ...lengthed(Op.Bytes1, width), op: Op.Compressed1 + width - 1 };
}

function lengthed(op: Op, width: number): ColumnPlan {
  return { op, a: 0, b: 0, skip: Op.SkipLength1 + width - 1, size: 0, extra: PREFIX };
}
