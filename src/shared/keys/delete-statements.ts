/** DELETE by key, many keys to a statement. */
import type { TableDefinition, TableName } from "../columns/table-definition.js";
import { qualified, sql, utf8Sql, type ByteSql } from "../mysql/bytes.js";
import { keyOfTable } from "./key-columns.js";
import { keyListForm } from "./key-predicate.js";

export interface DeleteLimits {
  /** Longest statement in bytes: the server's max_allowed_packet less some room. */
  maxBytes: number;
  /** A user's filter: rows for which it is true stay. Such statements run between `FILTER_NAMES` and `BINARY_NAMES` (`chunk-select.ts`). */
  unless?: string;
}

/**
 * DELETE statements for keys (text rows of key cells, as buffers or as latin1 strings) of the target table. Their warnings mean
 * nothing: the server warns of introducers that it calls deprecated (`_utf8mb3`, `_ucs2`).
 */
export function* deleteStatements(definition: TableDefinition, target: TableName, keys: Iterable<Buffer | string>, limits: DeleteLimits): Generator<ByteSql> {
  const form = keyListForm(keyOfTable(definition).columns);
  const head = sql`DELETE FROM ${qualified(target.schema, target.table)} WHERE `;
  const tail = limits.unless === undefined ? ("" as ByteSql) : sql` AND (\n${utf8Sql(limits.unless)}\n) IS NOT TRUE`;
  const overhead = head.length + form.list([]).length + tail.length;
  // Behind each item a comma or ` OR `.
  const separator = 4;
  let items: string[] = [];
  let bytes = overhead;
  for (const key of keys) {
    const item = form.item(key);
    if (items.length > 0 && (items.length >= form.maxItems || bytes + item.length + separator > limits.maxBytes)) {
      yield sql`${head}${form.list(items)}${tail}`;
      items = [];
      bytes = overhead;
    }
    items.push(item);
    bytes += item.length + separator;
  }
  if (items.length > 0) yield sql`${head}${form.list(items)}${tail}`;
}
