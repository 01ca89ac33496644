/** Keyset steps: where a chunk ends, and where the table ends. Index-only when there is no filter. */
import { selectList } from "../columns/select-list.js";
import type { TableDefinition } from "../columns/table-definition.js";
import { sql, type ByteSql } from "../mysql/bytes.js";
import { conditions, keyedTable, keyOrder } from "./chunk-select.js";
import { keyOfTable } from "./key-columns.js";

export interface Step {
  /** The key behind which to count; null counts from the table's beginning. */
  after: Buffer | null;
  /** The last key to look at; null looks to the table's end. */
  upTo?: Buffer | null;
  /** How many rows on; at least 1. */
  rows: number;
  where?: string | null;
}

/** The key of the row `rows` places behind `after` in key order: one text row of key cells, or none when fewer rows are left. */
export function boundaryQuery(definition: TableDefinition, step: Step): ByteSql {
  const range = { lower: step.after, upper: step.upTo ?? null, where: step.where ?? null };
  return sql`SELECT ${keyList(definition)} FROM ${keyedTable(definition)}${conditions(definition, range)} ORDER BY ${keyOrder(definition)} LIMIT 1 OFFSET ${step.rows - 1}`;
}

/** The largest key of the table: one text row of key cells, or none when it is empty. */
export function maxKeyQuery(definition: TableDefinition): ByteSql {
  return sql`SELECT ${keyList(definition)} FROM ${keyedTable(definition)} ORDER BY ${keyOrder(definition, "backward")} LIMIT 1`;
}

function keyList(definition: TableDefinition): ByteSql {
  return selectList(definition, keyOfTable(definition).columns.map((c) => c.column));
}
