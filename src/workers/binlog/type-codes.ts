import type { ByteReader } from "./byte-reader.js";

/** Column type codes (`MYSQL_TYPE_…`) as TABLE_MAP events have them. */
export const TYPE = {
  TINY: 1,
  SHORT: 2,
  LONG: 3,
  FLOAT: 4,
  DOUBLE: 5,
  TIMESTAMP: 7,
  LONGLONG: 8,
  INT24: 9,
  DATE: 10,
  TIME: 11,
  DATETIME: 12,
  YEAR: 13,
  NEWDATE: 14,
  VARCHAR: 15,
  BIT: 16,
  TIMESTAMP2: 17,
  DATETIME2: 18,
  TIME2: 19,
  TYPED_ARRAY: 20,
  VECTOR: 242,
  /** MariaDB's `COMPRESSED` columns. */
  MARIADB_BLOB_COMPRESSED: 140,
  MARIADB_VARCHAR_COMPRESSED: 141,
  JSON: 245,
  NEWDECIMAL: 246,
  ENUM: 247,
  SET: 248,
  BLOB: 252,
  VAR_STRING: 253,
  STRING: 254,
  GEOMETRY: 255,
} as const;

/** The collation id of binary strings. */
export const BINARY_COLLATION = 63;

/** The type's name for messages. */
export function typeName(type: number): string {
  return Object.entries(TYPE).find(([, code]) => code === type)?.[0] ?? `type ${type}`;
}

/** Types that have a bit in the SIGNEDNESS list; YEAR has one too. */
export function isNumeric(type: number): boolean {
  switch (type) {
    case TYPE.TINY:
    case TYPE.SHORT:
    case TYPE.INT24:
    case TYPE.LONG:
    case TYPE.LONGLONG:
    case TYPE.FLOAT:
    case TYPE.DOUBLE:
    case TYPE.NEWDECIMAL:
    case TYPE.YEAR:
      return true;
    default:
      return false;
  }
}

/** Types that are counted in the lists of character columns, binary strings included. */
export function isCharacter(type: number): boolean {
  switch (type) {
    case TYPE.STRING:
    case TYPE.VAR_STRING:
    case TYPE.VARCHAR:
    case TYPE.BLOB:
    case TYPE.VECTOR:
    case TYPE.MARIADB_BLOB_COMPRESSED:
    case TYPE.MARIADB_VARCHAR_COMPRESSED:
      return true;
    default:
      return false;
  }
}

/** A column's real type and its metadata in one number. */
export interface ColumnType {
  type: number;
  /**
   * STRING, VARCHAR: greatest length in bytes. ENUM, SET: bytes of the number. BLOB, JSON, GEOMETRY, VECTOR: bytes of the length.
   * NEWDECIMAL: precision × 256 + scale. BIT: number of bits. Temporal types: fractional digits. FLOAT, DOUBLE: bytes. Else 0.
   */
  metadata: number;
}

/** Reads the metadata of a column of the type code `code`; undefined when the code is unknown, so that nothing behind it can be read. */
export function readColumnType(code: number, metadata: ByteReader): ColumnType | undefined {
  switch (code) {
    case TYPE.TINY:
    case TYPE.SHORT:
    case TYPE.INT24:
    case TYPE.LONG:
    case TYPE.LONGLONG:
    case TYPE.YEAR:
    case TYPE.DATE:
    case TYPE.NEWDATE:
    case TYPE.TIME:
    case TYPE.DATETIME:
    case TYPE.TIMESTAMP:
      return { type: code, metadata: 0 };
    case TYPE.FLOAT:
    case TYPE.DOUBLE:
    case TYPE.TIME2:
    case TYPE.DATETIME2:
    case TYPE.TIMESTAMP2:
    case TYPE.BLOB:
    case TYPE.JSON:
    case TYPE.GEOMETRY:
    case TYPE.VECTOR:
    case TYPE.MARIADB_BLOB_COMPRESSED:
      return { type: code, metadata: metadata.u8() };
    case TYPE.VARCHAR:
    case TYPE.VAR_STRING:
    case TYPE.MARIADB_VARCHAR_COMPRESSED:
      return { type: code, metadata: metadata.u16() };
    case TYPE.BIT: {
      const bits = metadata.u8();
      return { type: code, metadata: metadata.u8() * 8 + bits };
    }
    case TYPE.NEWDECIMAL: {
      const precision = metadata.u8();
      return { type: code, metadata: precision * 256 + metadata.u8() };
    }
    case TYPE.STRING:
      return stringType(metadata.u8(), metadata.u8());
    default:
      return undefined;
  }
}

/**
 * CHAR, BINARY, ENUM and SET all come as STRING. The first byte is the real type; lengths over 255 keep their two
 * upper bits in it, inverted (Bug #37426), as every real type has both bits 0x30 set.
 */
function stringType(first: number, second: number): ColumnType {
  if (first === TYPE.ENUM || first === TYPE.SET) return { type: first, metadata: second };
  return { type: TYPE.STRING, metadata: second | ((~first & 0x30) << 4) };
}
