/**
 * The one table of column types: for every type of MySQL 5.7 to 9.x (and MariaDB's uuid, inet4, inet6) how a cell is
 * read, written, used as a key bound and hashed. Whatever differs by type is decided here and nowhere else.
 *
 * The form of a cell, by type:
 *
 * | type | bytes of the cell |
 * |---|---|
 * | integers, DECIMAL | decimal text, without ZEROFILL's zeros |
 * | FLOAT, DOUBLE | the shortest decimal text of the *double* (`c*1e0`): FLOAT's own text is rounded, and `c+0e0` loses the sign of -0 |
 * | BIT | the raw bytes, big-endian, (n+7)/8 of them |
 * | YEAR, DATE, TIME, DATETIME, TIMESTAMP | text as SELECT gives it, TIMESTAMP in `time_zone` +00:00 |
 * | CHAR … LONGTEXT, BINARY … LONGBLOB | raw bytes in the column's own character set |
 * | ENUM, SET | the index or bit mask as decimal text (the text of index 0 is that of a member `''`) |
 * | JSON | the server's text of the document, utf8mb4 |
 * | GEOMETRY and its subtypes, VECTOR | the server's raw bytes (geometry: SRID and WKB) |
 *
 * All SQL from here is independent of the connection's character set: raw bytes carry an introducer.
 */
import { bytesLiteral, sql, type ByteSql } from "../mysql/bytes.js";
import { DroverError } from "../errors.js";
import { enumMembers } from "./enum-members.js";
import type { ColumnDefinition } from "./table-definition.js";

export interface ColumnType {
  /** The expression that a SELECT reads the cell by. `column` is a quoted name. */
  read(column: ByteSql): ByteSql;
  /** How a cell stands in a VALUES list: bare (a numeral), a string literal plain or behind this introducer, or a document (see `json-numbers.ts`). */
  readonly write: "bare" | "plain" | "_binary" | "_ascii" | "json";
  /** How LOAD DATA gets the cell into the column: null = the field as it is; else the value of `SET column = …` from a user variable. */
  readonly load: ((variable: ByteSql) => ByteSql) | null;
  /** True for ENUM: the server stores index 0 exactly, but adds one warning (1265) for it even when not strict. */
  readonly zeroWarns: boolean;
  /** A cell (latin1 bytes) as a literal that compares with the column in the column's own order; null when the type cannot be a row key. */
  readonly bound: ((cell: string) => ByteSql) | null;
  /** Set for ENUM and SET, for which the server knows ranges only as lists of values (`IN`): the highest value. */
  readonly highest: bigint | null;
  /** How the cell enters the row hash (see `row-hash.ts`). */
  readonly hash: HashForm;
}

export interface HashForm {
  /** The cell, by the same bytes on every server version. */
  value(column: ByteSql): ByteSql;
  /** `numeral`: its text holds no comma and is never empty, so it needs no length. `bytes`: any bytes. */
  readonly form: "numeral" | "bytes";
  /** The most bytes that a value can have. */
  readonly maxBytes: number;
}

const asIs = (column: ByteSql): ByteSql => column;
const plusZero = (column: ByteSql): ByteSql => sql`(${column}+0)`;
const asUnsigned = (column: ByteSql): ByteSql => sql`CAST(${column} AS UNSIGNED)`;

const NUMERAL = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/;

/**
 * A cell that stands in a statement as it is. A table that was replaced on the source by one of other types, while it was being
 * read, gives any text here, and that must not become a part of a statement.
 * @throws DroverError TABLE_CHANGED
 */
export function bareLiteral(cell: string): ByteSql {
  if (NUMERAL.test(cell)) return cell as ByteSql;
  throw new DroverError("TABLE_CHANGED", "a value that is no number was read where the table has a column of numbers: the table was replaced while it was being read");
}

const BASE = { load: null, zeroWarns: false, highest: null } as const;
const numeral = (value: HashForm["value"]): HashForm => ({ value, form: "numeral", maxBytes: 100 });
const bytes = (maxBytes: number, value: HashForm["value"] = asIs): HashForm => ({ value, form: "bytes", maxBytes });

/** Integers and DECIMAL. ZEROFILL pads the text only; `+0` takes that off, so that a value has one form everywhere. */
function exactNumber(column: ColumnDefinition): ColumnType {
  const read = /zerofill/i.test(column.columnType) ? plusZero : asIs;
  return { ...BASE, read, write: "bare", bound: bareLiteral, hash: numeral(read) };
}

/**
 * FLOAT and DOUBLE. Written as a string, which the server turns into a double without a detour over DECIMAL; as a bound it needs an
 * exponent for the same reason. A FLOAT's double is exactly representable as the FLOAT again, so equality holds.
 */
function approximateNumber(column: ColumnDefinition): ColumnType {
  const read = (name: ByteSql) => sql`(${name}*1e0)`;
  const hash = column.dataType === "float" ? floatAsInteger : asIs;
  return { ...BASE, read, write: "plain", bound: (cell) => (cell.includes("e") ? bareLiteral(cell) : `${bareLiteral(cell)}e0`) as ByteSql, hash: numeral(hash) };
}

/**
 * A DOUBLE column's own text is whole inside an expression, but MySQL cuts that of a *calculated* double at 22 characters (9.7:
 * `CONCAT(-2.2250738585072014e-308*1e0)` ends in `5072e-308`; SELECT alone gives all of it), and MariaDB does not. So a FLOAT, whose own
 * text is rounded, is scaled by its least power of two: exactly, to an integer, whose text is at most 22 characters long.
 */
const floatAsInteger = (column: ByteSql): ByteSql => sql`(${column}*${String(2 ** 149).replace("e+", "e") as ByteSql})`;

/** BIT: compared as an unsigned number; a hex literal would be compared as a double. */
function bit(): ColumnType {
  const bound = (cell: string): ByteSql => BigInt(cell === "" ? 0 : `0x${Buffer.from(cell, "latin1").toString("hex")}`).toString() as ByteSql;
  return { ...BASE, read: asIs, write: "_binary", bound, hash: numeral(asUnsigned) };
}

/** YEAR and the temporal types: quoted text. A bare YEAR 0 in a comparison would mean 2000. */
function temporal(): ColumnType {
  return { ...BASE, read: asIs, write: "plain", bound: bytesLiteral, hash: numeral(asIs) };
}

/** CHAR … LONGTEXT: as bytes both ways; a bound is in the column's character set, and takes on its collation by coercibility. */
function text(column: ColumnDefinition): ColumnType {
  const charset = column.charset === null || column.charset === "utf8" ? "utf8mb3" : column.charset;
  return { ...BASE, read: asIs, write: "_binary", bound: (cell) => `_${charset}${bytesLiteral(cell)}` as ByteSql, hash: bytes(maxBytes(column)) };
}

function binary(column: ColumnDefinition): ColumnType {
  return { ...BASE, read: asIs, write: "_binary", bound: (cell) => `_binary${bytesLiteral(cell)}` as ByteSql, hash: bytes(maxBytes(column)) };
}

/** ENUM and SET by number. `CAST` reads and writes 64-bit masks as integers; `c+0` would go through a double. */
function enumOrSet(column: ColumnDefinition): ColumnType {
  const members = enumMembers(column.columnType);
  const isEnum = column.dataType === "enum";
  return {
    ...BASE, read: asUnsigned, write: "bare", load: asUnsigned, zeroWarns: isEnum,
    // The server compares a SET with a number as a signed one: 2^64-1 is found by -1 only.
    bound: (cell) => BigInt.asIntN(64, BigInt(bareLiteral(cell))).toString() as ByteSql,
    highest: isEnum ? BigInt(members) : (1n << BigInt(members)) - 1n, hash: numeral(asUnsigned),
  };
}

/** JSON columns take no binary strings: the text gets its character set back on the way in. */
function json(): ColumnType {
  return { ...BASE, read: asIs, write: "json", load: (v) => sql`CONVERT(${v} USING utf8mb4)`, bound: null, hash: bytes(Infinity) };
}

function rawBytes(): ColumnType {
  return { ...BASE, read: asIs, write: "_binary", bound: null, hash: bytes(Infinity) };
}

/**
 * MariaDB's uuid, inet4, inet6: read as ASCII text; a binary string would be taken for the packed form. Hashed as text by a cast:
 * `IFNULL(u,'')` takes '' for a uuid, which gives NULL, and a row whose hash is NULL is one that a diff does not see.
 */
function asciiText(): ColumnType {
  const asText = (column: ByteSql) => sql`CAST(${column} AS CHAR)`;
  return { ...BASE, read: asIs, write: "_ascii", load: (v) => sql`CONVERT(${v} USING ascii)`, bound: (cell) => `_ascii${bytesLiteral(cell)}` as ByteSql, hash: numeral(asText) };
}

const TYPES: Record<string, (column: ColumnDefinition) => ColumnType> = {
  tinyint: exactNumber, smallint: exactNumber, mediumint: exactNumber, int: exactNumber, bigint: exactNumber, decimal: exactNumber,
  float: approximateNumber, double: approximateNumber,
  bit,
  year: temporal, date: temporal, time: temporal, datetime: temporal, timestamp: temporal,
  char: text, varchar: text, tinytext: text, text, mediumtext: text, longtext: text,
  binary, varbinary: binary, tinyblob: binary, blob: binary, mediumblob: binary, longblob: binary,
  enum: enumOrSet, set: enumOrSet,
  json,
  geometry: rawBytes, point: rawBytes, linestring: rawBytes, polygon: rawBytes, multipoint: rawBytes, multilinestring: rawBytes,
  multipolygon: rawBytes, geomcollection: rawBytes, geometrycollection: rawBytes,
  vector: rawBytes,
  uuid: asciiText, inet4: asciiText, inet6: asciiText,
};

/**
 * The type of a column.
 * @throws DroverError UNDECODABLE for a type that this table does not know; the message names table, column and type
 */
export function columnType(table: { schema: string; table: string }, column: ColumnDefinition): ColumnType {
  const make = Object.hasOwn(TYPES, column.dataType) ? TYPES[column.dataType] : undefined;
  if (make === undefined)
    throw new DroverError("UNDECODABLE", `${table.schema}.${table.table}: column ${column.name} has the type ${column.columnType}, which Drover does not know`, {
      cure: "leave the table out, or change the column's type",
    });
  return make(column);
}

const FIXED_MAX: Record<string, number> = { tinytext: 255, tinyblob: 255, text: 65_535, blob: 65_535 };

/** An upper bound of the bytes of a string column's value; four bytes per character, whatever the character set. */
function maxBytes(column: ColumnDefinition): number {
  const length = /^(?:char|varchar|binary|varbinary)\((\d+)\)/.exec(column.columnType);
  if (length) return Math.min(65_535, Number(length[1]) * 4);
  return FIXED_MAX[column.dataType] ?? Infinity;
}
