/** Whether keys of rows, and the order in which they stand, mean the same under two definitions of a table. */
import type { TableDefinition } from "../columns/table-definition.js";

export function sameKey(a: TableDefinition, b: TableDefinition): boolean {
  return JSON.stringify(orderOf(a)) === JSON.stringify(orderOf(b));
}

/** What the order of keys depends on; another type of the same order counts as another key. */
function orderOf({ key, columns, indexes }: TableDefinition): unknown {
  if (key === null) return null;
  const parts = indexes.find((index) => index.name === key.index)?.parts ?? [];
  return key.columns.map((name) => {
    const column = columns.find((c) => c.name === name);
    return [name, column?.columnType, column?.charset, column?.collation, parts.some((part) => part.column === name && part.descending === true)];
  });
}
