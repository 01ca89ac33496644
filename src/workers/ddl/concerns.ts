/** Which followed tables a statement is about, and which tables join the migration by it. */
import type { TableName } from "../../shared/columns/table-definition.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { SelectionMap } from "../../shared/selection/selection-map.js";
import { renamedTables } from "./renamed-tables.js";
import type { Statement, TableReference } from "./sql/statement.js";

/** The followed tables as of the statement. */
export interface KnownTables {
  find(name: TableName): MigrationTable | undefined;
  list: readonly MigrationTable[];
  /** Whether the table's definition is newer than the statement. */
  hasSeen(table: MigrationTable): boolean;
  /** Whether chunks of the table may have been read behind the statement: then its rows are not as they were before it. */
  wasReadBehind(table: MigrationTable): boolean;
  /** Source and target are of two families (MySQL, MariaDB): a statement of one need not mean the same to the other. */
  twoFamilies: boolean;
  selection: SelectionMap;
}

export interface Concerns {
  /** Followed tables that the statement changes, replaces or ends. */
  tables: MigrationTable[];
  /** Names that are not followed so far, that the spec selects, and that a table has from here on. */
  joining: TableName[];
  /** A default of the target's schema changes. */
  schema: boolean;
}

export function concernsOf(statement: Statement, known: KnownTables): Concerns {
  const concerns: Concerns = { tables: [], joining: [], schema: false };
  const followed = (name: TableName) => {
    const table = known.find(name);
    if (table !== undefined && !known.hasSeen(table) && !concerns.tables.includes(table)) concerns.tables.push(table);
  };
  const named = (name: TableName) => {
    if (known.find(name) !== undefined) followed(name);
    else if (known.selection.select(name) !== null && !concerns.joining.some((other) => known.selection.sameTable(other, name))) concerns.joining.push(name);
  };
  switch (statement.kind) {
    case "none":
      break;
    case "alter":
      followed(nameOf(statement.table));
      if (statement.exchange) followed(nameOf(statement.exchange));
      if (statement.renameTo) named(nameOf(statement.renameTo));
      break;
    case "create":
      // CREATE TABLE IF NOT EXISTS is in the binlog also when it did nothing.
      if (!statement.ifNotExists || known.find(nameOf(statement.table)) === undefined) named(nameOf(statement.table));
      break;
    case "drop":
    case "rows":
      for (const table of statement.tables) followed(nameOf(table));
      break;
    case "truncate":
      followed(nameOf(statement.table));
      break;
    case "rename":
      for (const { from } of statement.pairs) followed(nameOf(from));
      for (const { to } of renamedTables(statement, known)) named(to);
      break;
    case "drop-schema":
      for (const table of known.list) if (known.selection.same(table.source.schema, statement.schema)) followed(table.source);
      break;
    case "alter-schema":
      concerns.schema = known.selection.knowsSchema(statement.schema) && (statement.charset ?? statement.collation) !== null;
      break;
  }
  return concerns;
}

export function nameOf({ schema, table }: TableReference): TableName {
  return { schema, table };
}

