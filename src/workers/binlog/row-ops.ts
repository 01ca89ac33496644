/**
 * What to do with one column of a row image. Codes below `FirstCell` pass over the column.
 */
export const enum Op {
  /** Columns that are not wanted: `a` bytes, or a length of 1 to 4 bytes and as many bytes as it says. */
  SkipFixed = 0,
  SkipLength1 = 1,
  SkipLength2 = 2,
  SkipLength3 = 3,
  SkipLength4 = 4,
  /** All codes from here on give a cell. */
  FirstCell = 10,
  Signed8 = 10,
  Unsigned8 = 11,
  Signed16 = 12,
  Unsigned16 = 13,
  Signed24 = 14,
  Unsigned24 = 15,
  Signed32 = 16,
  Unsigned32 = 17,
  Signed64 = 18,
  Unsigned64 = 19,
  /** Bytes as they are, behind a length of 1 to 4 bytes. */
  Bytes1 = 20,
  Bytes2 = 21,
  Bytes3 = 22,
  Bytes4 = 23,
  /** BINARY(a): the binlog leaves out the zeros at the end. */
  Padded1 = 24,
  Padded2 = 25,
  Float = 26,
  Double = 27,
  /** DECIMAL(a, b). */
  Decimal = 28,
  Year = 29,
  Date = 30,
  /** `a` digits of fraction. */
  Time2 = 31,
  Datetime2 = 32,
  Timestamp2 = 33,
  OldTime = 34,
  OldDatetime = 35,
  OldTimestamp = 36,
  /** BIT: `a` bytes as they are. */
  Bit = 37,
  Json = 38,
  /** MariaDB's types of 16 and 4 bytes, stored like BINARY. */
  Uuid = 39,
  Inet4 = 40,
  Inet6 = 41,
  /** MariaDB's `COMPRESSED` columns, behind a length of 1 to 4 bytes. */
  Compressed1 = 42,
  Compressed2 = 43,
  Compressed3 = 44,
  Compressed4 = 45,
}

/** How to walk one row image; made by `planRow`. Columns are those that the image has, in the table's order. */
export interface RowPlan {
  /** The columns' ordinals in the table when the image lacks some; null for all. */
  present: readonly number[] | null;
  ops: Uint8Array;
  a: Int32Array;
  b: Int32Array;
  /** Upper bound of what the cells add to the bytes that the image itself has. */
  extra: number;
  cells: number;
  /** For each cell of the wanted row the number of the decoded cell; null when both have the same order. */
  order: Int32Array | null;
}
