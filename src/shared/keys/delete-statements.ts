/** DELETE by key, many keys to a statement. */
import type { TableDefinition, TableName } from "../columns/table-definition.js";
import { qualified, sql, type ByteSql } from "../mysql/bytes.js";
import { keyOfTable } from "./key-columns.js";
import { inList, keyTuple } from "./key-predicate.js";

export interface DeleteLimits {
  /** Longest statement in bytes: the server's max_allowed_packet less some room. */
  maxBytes: number;
}

/**
 * Most key cells in one statement. The range optimizer needs some hundreds of bytes for each, and when they exceed
 * `range_optimizer_max_mem_size` (8 MiB) it falls back to a scan of the whole table (measured: 20,000 keys of 3 columns).
 */
const MAX_CELLS = 3_000;

/**
 * DELETE statements for keys (text rows of key cells, as buffers or as latin1 strings) of the target table. An IN list of row
 * values is answered by key look-ups and takes 9 µs a key; the same keys as a chain of ORs take thirty times that.
 */
export function* deleteStatements(definition: TableDefinition, target: TableName, keys: Iterable<Buffer | string>, limits: DeleteLimits): Generator<ByteSql> {
  const { columns } = keyOfTable(definition);
  const maxKeys = Math.max(1, Math.floor(MAX_CELLS / columns.length));
  const head = sql`DELETE FROM ${qualified(target.schema, target.table)} WHERE `;
  const overhead = head.length + inList(columns, []).length;
  let tuples: string[] = [];
  let bytes = overhead;
  for (const key of keys) {
    const tuple = keyTuple(columns, key);
    if (tuples.length > 0 && (tuples.length >= maxKeys || bytes + tuple.length + 1 > limits.maxBytes)) {
      yield sql`${head}${inList(columns, tuples)}`;
      tuples = [];
      bytes = overhead;
    }
    tuples.push(tuple);
    bytes += tuple.length + 1;
  }
  if (tuples.length > 0) yield sql`${head}${inList(columns, tuples)}`;
}
