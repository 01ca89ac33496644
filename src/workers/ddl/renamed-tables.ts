/** What RENAME TABLE (or the RENAME clause of ALTER TABLE) comes to: its pairs are carried out one after the other. */
import type { TableName } from "../../shared/columns/table-definition.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { KnownTables } from "./concerns.js";
import type { Statement } from "./sql/statement.js";

export interface RenamedTable {
  /** Null for one that is not followed, or whose definition is newer than the statement. */
  table: MigrationTable | null;
  from: TableName;
  to: TableName;
}

/** The tables whose name is another one at the end. */
export function renamedTables(statement: Statement, known: KnownTables): RenamedTable[] {
  return simulate(statement, known).filter(({ from, to }) => from.schema !== to.schema || from.table !== to.table);
}

/** The pairs that move followed tables, in order, names in between included: what the target has to carry out. */
export function followedPairs(statement: Statement, known: KnownTables): { from: TableName; to: TableName }[] {
  const pairs: { from: TableName; to: TableName }[] = [];
  simulate(statement, known, (moved, from, to) => {
    if (moved.table !== null) pairs.push({ from, to });
  });
  return pairs;
}

function simulate(statement: Statement, known: KnownTables, onPair: (moved: RenamedTable, from: TableName, to: TableName) => void = () => undefined): RenamedTable[] {
  const moved: RenamedTable[] = [];
  for (const { from, to } of pairsOf(statement)) {
    let entry = moved.find((m) => known.selection.sameTable(m.to, from));
    if (entry === undefined) {
      const table = known.find(from);
      entry = { table: table !== undefined && !known.hasSeen(table) ? table : null, from, to: from };
      moved.push(entry);
    }
    onPair(entry, from, to);
    entry.to = to;
  }
  return moved;
}

function pairsOf(statement: Statement): { from: TableName; to: TableName }[] {
  const name = ({ schema, table }: TableName): TableName => ({ schema, table });
  if (statement.kind === "rename") return statement.pairs.map(({ from, to }) => ({ from: name(from), to: name(to) }));
  if (statement.kind === "alter" && statement.renameTo !== null) return [{ from: name(statement.table), to: name(statement.renameTo) }];
  return [];
}
