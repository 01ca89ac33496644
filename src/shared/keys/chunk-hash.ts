/**
 * The order-free hash of a chunk: the count of its rows and the XOR of their hashes.
 *
 * Equal rows would cancel each other in an XOR, but no two rows of a chunk are equal: the key is unique and part of the hash.
 * For two different sets of rows to agree, a nonempty set of different SHA2 values must XOR to zero: 2^-256 (2^-128 with an
 * old server) for anything that happens by itself. Somebody who may choose hundreds of rows freely could construct such a
 * set by linear algebra; a diff finds faults, not forgeries.
 *
 * A table without a key may hold equal rows: there the hashes are added up, as four exact sums of 60 bits of each.
 */
import { MIN_PACKET, rowHashExpression } from "../columns/row-hash.js";
import { selectList } from "../columns/select-list.js";
import type { ColumnDefinition, TableDefinition } from "../columns/table-definition.js";
import { DroverError } from "../errors.js";
import { sql, type ByteSql } from "../mysql/bytes.js";
import type { TextRecord } from "../mysql/session.js";
import { conditions, keyedTable, keyOrder, type ChunkRange } from "./chunk-select.js";
import { keyOfTable } from "./key-columns.js";

/** What of a server decides how it aggregates. */
export interface HashDialect {
  isMariaDb: boolean;
  /** `VERSION()` */
  version: string;
}

export interface ChunkHash {
  rows: number;
  /** Hex digits: 64, or 32 from a server that XORs integers only; compare with `sameDigest`. */
  digest: string;
}

/**
 * The statement for a chunk's hash; read its one record with `chunkHashOf`.
 * @param columns which columns are hashed; default: all copied ones
 */
export function chunkHashQuery(definition: TableDefinition, range: ChunkRange, dialect: HashDialect, columns?: readonly ColumnDefinition[]): ByteSql {
  const hash = rowHashExpression(definition, columns);
  const from = sql`FROM ${keyedTable(definition)}${conditions(definition, range)}`;
  if (definition.key === null) return sql`SELECT COUNT(*) AS row_count, CONCAT(${[1, 16, 31, 46].map(sumOfPart).join(",") as ByteSql}) AS digest, @@max_allowed_packet AS packet FROM (SELECT ${hash} AS h ${from} LIMIT 18446744073709551615) AS hashes`;
  if (hasBinaryXor(dialect)) return sql`SELECT COUNT(*) AS row_count, HEX(BIT_XOR(UNHEX(${hash}))) AS digest, @@max_allowed_packet AS packet ${from}`;
  // Two 64-bit halves of each hash. The LIMIT keeps the server from merging the subquery, which would hash every row twice.
  const half = (from: number) => sql`LPAD(HEX(BIT_XOR(CAST(CONV(SUBSTR(h,${from},16),16,10) AS UNSIGNED))),16,'0')`;
  return sql`SELECT COUNT(*) AS row_count, CONCAT(${half(1)},${half(17)}) AS digest, @@max_allowed_packet AS packet FROM (SELECT ${hash} AS h ${from} LIMIT 18446744073709551615) AS hashes`;
}

/** The exact sum of 15 hex digits of every hash, in 40 digits: enough for 10^20 rows. */
function sumOfPart(from: number): ByteSql {
  return sql`LPAD(IFNULL(SUM(CAST(CONV(SUBSTR(h,${from},15),16,10) AS UNSIGNED)),0),40,'0')`;
}

/** @throws DroverError STATEMENT_REFUSED when the server's max_allowed_packet is so small that hashes may be NULL */
export function chunkHashOf(record: TextRecord | undefined): ChunkHash {
  const packet = Number(record?.["packet"] ?? 0);
  if (packet < MIN_PACKET) throw new DroverError("STATEMENT_REFUSED", `max_allowed_packet is ${packet}: too small to hash rows`, { cure: `raise it to ${MIN_PACKET} or more` });
  const rows = Number(record?.["row_count"]);
  return { rows, digest: rows === 0 ? "" : (record?.["digest"] ?? "") };
}

/** Whether two chunks are equal as far as both servers tell. */
export function sameHash(a: ChunkHash, b: ChunkHash): boolean {
  const digits = Math.min(a.digest.length, b.digest.length);
  return a.rows === b.rows && (a.rows === 0 || (digits >= 32 && a.digest.slice(0, digits) === b.digest.slice(0, digits)));
}

/**
 * For a chunk that differs: per row the key cells and behind them one cell of 32 bytes, the hash; in key order. Text rows,
 * so `rowCells(row)` gives the key's cells and the hash.
 */
export function rowHashSelect(definition: TableDefinition, range: ChunkRange, columns?: readonly ColumnDefinition[]): ByteSql {
  const key = selectList(definition, keyOfTable(definition).columns.map((c) => c.column));
  return sql`SELECT ${key},UNHEX(${rowHashExpression(definition, columns)}) FROM ${keyedTable(definition)}${conditions(definition, range)} ORDER BY ${keyOrder(definition)}`;
}

/** MySQL 8.0 and later XOR binary strings of any length; older servers and MariaDB turn them into integers. */
function hasBinaryXor(dialect: HashDialect): boolean {
  return !dialect.isMariaDb && Number.parseInt(dialect.version, 10) >= 8;
}
