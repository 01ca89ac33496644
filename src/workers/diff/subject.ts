/** What is compared: one table on both servers, and which of its rows. */
import type { DiffOptions } from "../../shared/contracts/diff.js";
import type { TableDefinition } from "../../shared/columns/table-definition.js";
import type { MigrationTable } from "../../shared/state/tables.js";

export interface Subject {
  number: number;
  /** Tells the tables of all migrations and filters apart. */
  name: string;
  source: TableDefinition;
  /** The source's definition under the target's name: what must be there, and how keys are ordered. */
  target: TableDefinition;
  /** The migration's filter and the diff's own, evaluated on both sides; null for all rows. */
  where: string | null;
}

export function subjectOf(migration: string, table: MigrationTable, options: Pick<DiffOptions, "where">): Subject {
  // A line of its own for each: a filter may end in a comment.
  const filters = [table.where, options.where].filter((filter) => filter !== null);
  return {
    number: table.number,
    name: `${migration}/${table.number}/${options.where ?? ""}`,
    source: table.definition,
    target: { ...table.definition, schema: table.target.schema, table: table.target.table },
    where: filters.length === 0 ? null : filters.map((filter) => `(\n${filter}\n)`).join(" AND "),
  };
}

/** Whether two stand for the same table in the same shape: what was read of one may be written by the other. */
export function sameSubject(a: Subject, b: Subject): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function sourceName(table: MigrationTable): string {
  return `${table.source.schema}.${table.source.table}`;
}

/** The tables that the option names; empty means all. Unknown names are returned apart. */
export function selectTables(tables: readonly MigrationTable[], names: readonly string[]): { selected: MigrationTable[]; unknown: string[] } {
  const selected = names.length === 0 ? [...tables] : tables.filter((table) => names.includes(sourceName(table)));
  return { selected, unknown: names.filter((name) => !tables.some((table) => sourceName(table) === name)) };
}
