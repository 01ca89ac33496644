/**
 * Which index identifies a row and cuts the table into chunks.
 *
 * The primary key if it can serve; else the first NOT NULL unique index in the server's order that can. The server sorts
 * unique indexes without nullable and prefix parts to the front, and InnoDB without a primary key clusters by the first
 * of them: reading in its order costs no look-up per row, which counts for more than the width of the key.
 */
import { columnType } from "./column-types.js";
import type { ColumnDefinition, IndexDefinition, TableDefinition } from "./table-definition.js";

/** Why an index cannot be the row key; null when it can. */
function keyObstacle(table: Pick<TableDefinition, "schema" | "table" | "columns">, index: IndexDefinition): string | null {
  if (!index.unique) return "it is not unique";
  if (index.kind !== "btree") return "it is not a BTREE index";
  if (index.invisible === true) return "it is invisible, and FORCE INDEX cannot name it";
  for (const part of index.parts) {
    if (part.column === null) return "it has an expression";
    if (part.prefix !== null) return `it has only a prefix of ${part.column}`;
    const column = table.columns.find((c) => c.name === part.column);
    if (column === undefined) return `its column ${part.column} is hidden`;
    const obstacle = columnObstacle(table, column);
    if (obstacle !== null) return obstacle;
  }
  return null;
}

function columnObstacle(table: Pick<TableDefinition, "schema" | "table">, column: ColumnDefinition): string | null {
  // A generated column's value does not travel, so a row's text would not hold its own key.
  if (column.generated !== null) return `its column ${column.name} is generated`;
  if (column.nullable) return `its column ${column.name} may be NULL`;
  if (columnType(table, column).bound === null) return `its column ${column.name} has a type without an order`;
  return null;
}

export function chooseKey(table: Pick<TableDefinition, "schema" | "table" | "columns" | "indexes">): TableDefinition["key"] {
  const usable = table.indexes.filter((index) => keyObstacle(table, index) === null);
  const index = usable.find((i) => i.name === "PRIMARY") ?? usable[0];
  return index === undefined ? null : { index: index.name, columns: index.parts.map((part) => part.column as string) };
}

/** For a table whose `key` is null: why each of its indexes cannot serve, as one sentence. */
export function whyNoKey(table: Pick<TableDefinition, "schema" | "table" | "columns" | "indexes">): string {
  const name = `${table.schema}.${table.table}`;
  const unique = table.indexes.filter((index) => index.unique);
  if (unique.length === 0) return `${name} has neither a primary key nor a unique key`;
  return `${name} has no usable row key: ${unique.map((index) => `${index.name} cannot serve because ${keyObstacle(table, index)}`).join("; ")}`;
}
