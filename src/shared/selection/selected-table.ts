/** One table of a migration: where it is, where it goes, which of its rows. */
import type { TableName } from "../columns/table-definition.js";

export interface SelectedTable {
  source: TableName;
  target: TableName;
  /** A filter that MySQL evaluates; null for all rows. */
  where: string | null;
}

/** `shop.orders`, for messages. */
export function nameOf(table: TableName): string {
  return `${table.schema}.${table.table}`;
}
