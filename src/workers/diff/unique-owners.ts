/**
 * Target rows that hold a secondary unique value of rows that are about to be written. A REPLACE would push them out; in
 * the follow an event that restores them is still to come, in a repair there may be none, so they are repaired along.
 */
import { columnType } from "../../shared/columns/column-types.js";
import { copiedColumns, type IndexDefinition, type TableDefinition } from "../../shared/columns/table-definition.js";
import { rowCells, textRow } from "../../shared/columns/text-row.js";
import type { KeyColumn } from "../../shared/keys/key-columns.js";
import { keyListForm } from "../../shared/keys/key-predicate.js";
import { identifier, qualified, sql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import { keyList } from "./row-hashes.js";

/** The keys (latin1 text rows) of target rows that share a unique value with one of `rows`, those rows themselves included. */
export async function uniqueOwners(session: Session, definition: TableDefinition, rows: readonly Buffer[]): Promise<Set<string>> {
  const owners = new Set<string>();
  for (const index of definition.indexes) {
    const columns = index.unique && index.name !== definition.key?.index ? plainColumns(definition, index) : null;
    if (columns === null) continue;
    const form = keyListForm(columns);
    const items = rows.map((row) => valuesOf(columns, row)).filter((values) => values !== null).map((values) => form.item(values));
    for (let i = 0; i < items.length; i += form.maxItems) {
      await session.readRows(sql`SELECT ${keyList(definition)} FROM ${qualified(definition.schema, definition.table)} WHERE ${form.list(items.slice(i, i + form.maxItems))}`, (buffer, start, end) => {
        owners.add(buffer.toString("latin1", start, end));
      });
    }
  }
  return owners;
}

/** The parts of an index that looks up whole columns; null for prefixes, expressions and types without literals. */
function plainColumns(definition: TableDefinition, index: IndexDefinition): KeyColumn[] | null {
  const copied = copiedColumns(definition);
  const columns: KeyColumn[] = [];
  for (const part of index.parts) {
    const cell = copied.findIndex((c) => c.name === part.column);
    const column = copied[cell];
    const type = column && columnType(definition, column);
    if (!column || !type?.bound || part.prefix !== null) return null;
    columns.push({ column, name: identifier(column.name), type, bound: type.bound, descending: false, cell });
  }
  return columns;
}

/** The cells of an index as a text row; null when a part is NULL: it is equal to nothing. */
function valuesOf(columns: readonly KeyColumn[], row: Buffer): Buffer | null {
  const cells = rowCells(row);
  const values = columns.map(({ cell }) => cells[cell] ?? null);
  return values.includes(null) ? null : textRow(values);
}
