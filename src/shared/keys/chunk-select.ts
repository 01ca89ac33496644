/** The statements that read rows by their keys. */
import { selectList } from "../columns/select-list.js";
import type { TableDefinition } from "../columns/table-definition.js";
import { qualified, sql, utf8Sql, type ByteSql } from "../mysql/bytes.js";
import { keyOfTable } from "./key-columns.js";
import { keyIn, keyPredicate, type KeyRange } from "./key-predicate.js";

export { TEXT_LITERALS as FILTER_NAMES, BYTE_LITERALS as BINARY_NAMES } from "../columns/literals.js";

/**
 * What to read: a key range, and the user's filter. A statement with a filter runs between `FILTER_NAMES` and `BINARY_NAMES`, else the filter's strings would be compared as bytes; statements without one work under both.
 */
export interface ChunkRange extends KeyRange {
  where?: string | null;
}

/**
 * All copied columns of a chunk's rows, in key order: a reader that stops early has a contiguous part of the range, and the
 * rest is `(keyOf(last row), upper]`. Of a table without a key: all rows, in no order.
 */
export function chunkSelect(definition: TableDefinition, range: ChunkRange): ByteSql {
  const rows = sql`SELECT ${selectList(definition)} FROM ${keyedTable(definition)}${conditions(definition, range)}`;
  return definition.key === null ? rows : sql`${rows} ORDER BY ${keyOrder(definition)}`;
}

/** All copied columns of the rows that have one of the keys, in no order. */
export function rowsByKey(definition: TableDefinition, keys: readonly (Buffer | string)[]): ByteSql {
  return sql`SELECT ${selectList(definition)} FROM ${keyedTable(definition)} WHERE ${keyIn(definition, keys)}`;
}

/** The table, bound to its key's index, if it has one: nothing else (an index fit for the filter, a full scan with a sort) may be chosen. */
export function keyedTable(definition: TableDefinition): ByteSql {
  if (definition.key === null) return qualified(definition.schema, definition.table);
  return sql`${qualified(definition.schema, definition.table)} FORCE INDEX (${keyOfTable(definition).index})`;
}

/** ` WHERE …`, or nothing. */
export function conditions(definition: TableDefinition, range: ChunkRange): ByteSql {
  const terms: ByteSql[] = [];
  const predicate = range.lower === null && range.upper === null ? null : keyPredicate(definition, range);
  if (predicate !== null) terms.push(predicate);
  // On lines of its own: a filter may end in a comment.
  if (range.where) terms.push(sql`(\n${utf8Sql(range.where)}\n)`);
  return (terms.length === 0 ? "" : ` WHERE ${terms.join(" AND ")}`) as ByteSql;
}

/** The key's columns as an ORDER BY list in the index's own direction, or against it. */
export function keyOrder(definition: TableDefinition, direction: "forward" | "backward" = "forward"): ByteSql {
  return keyOfTable(definition)
    .columns.map((c) => (c.descending === (direction === "forward") ? `${c.name} DESC` : c.name))
    .join(",") as ByteSql;
}
