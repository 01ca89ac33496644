/** What a statement comes to on the target and in the state, while the follow stands right before it. */
import type { TableName } from "../../shared/columns/table-definition.js";
import { DroverError } from "../../shared/errors.js";
import type { SelectedTable } from "../../shared/selection/selected-table.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import { nameOf, type KnownTables } from "./concerns.js";
import { followedPairs, renamedTables } from "./renamed-tables.js";
import type { Statement, TableReference } from "./sql/statement.js";

/** A followed table with the names and the filter that it has behind the statement. */
export interface ChangedTable extends SelectedTable {
  table: MigrationTable;
}

/** Whether its target has another name behind the statement. */
export function isMoved({ table, target }: Pick<ChangedTable, "table" | "target">): boolean {
  return table.target.schema !== target.schema || table.target.table !== target.table;
}

/** What the target runs: the source's own statement under other names, or one of ours. All but the first may be run twice. */
export type Execution =
  | { kind: "statement"; names: { at: TableReference; as: TableName }[] }
  | { kind: "truncate"; target: TableName }
  | { kind: "drop"; targets: TableName[] }
  | { kind: "rename"; pairs: { from: TableName; to: TableName }[] }
  | { kind: "alter-schema"; schema: string; statement: Extract<Statement, { kind: "alter-schema" }> };

export interface TargetPlan {
  run: Execution | null;
  /** Tables of the target that look different behind it. */
  touched: TableName[];
  /** Run twice it may undo itself, and the shapes do not tell how often it ran: then `changed` start over. */
  ambiguous: boolean;
  /** Their definitions are read again. */
  changed: ChangedTable[];
  /** Joins with the rows that the binlog brings. */
  created: SelectedTable | null;
  /** Their rows are copied anew; old targets are dropped first. */
  restarted: ChangedTable[];
  /** Join with rows that must be copied. */
  joining: SelectedTable[];
  removed: MigrationTable[];
}

const NOTHING: TargetPlan = { run: null, touched: [], ambiguous: false, changed: [], created: null, restarted: [], joining: [], removed: [] };

/** @param withRows rows of the same transaction follow the statement */
export function planStatement(statement: Statement, known: KnownTables, withRows: boolean): TargetPlan {
  const plan = planKind(statement, known, withRows);
  // What a chunk read behind the statement would be changed by it once more.
  if (!plan.changed.some(({ table }) => known.wasReadBehind(table))) return plan;
  return { ...plan, run: null, touched: [], changed: [], restarted: [...plan.restarted, ...plan.changed] };
}

function planKind(statement: Statement, known: KnownTables, withRows: boolean): TargetPlan {
  const followed = (name: TableName) => {
    const table = known.find(name);
    return table !== undefined && !known.hasSeen(table) ? table : null;
  };
  switch (statement.kind) {
    case "none":
    case "rows":
      return NOTHING;
    case "alter":
      return planAlter(statement, known, followed(nameOf(statement.table)), statement.exchange && followed(nameOf(statement.exchange)));
    case "create":
      return planCreate(statement, known, withRows);
    case "truncate": {
      const table = followed(nameOf(statement.table));
      return table === null ? NOTHING : { ...NOTHING, run: { kind: "truncate", target: table.target } };
    }
    case "drop":
      return planDrop(statement.tables.map((table) => followed(nameOf(table))));
    case "drop-schema":
      return planDrop(known.list.filter((table) => known.selection.same(table.source.schema, statement.schema)).map((table) => followed(table.source)));
    case "rename":
      return planRename(statement, known);
    case "alter-schema":
      return { ...NOTHING, run: { kind: "alter-schema", schema: known.selection.targetSchema(statement.schema), statement } };
  }
}

function planDrop(tables: (MigrationTable | null)[]): TargetPlan {
  const removed = [...new Set(tables)].filter((table) => table !== null);
  return removed.length === 0 ? NOTHING : { ...NOTHING, removed, run: { kind: "drop", targets: removed.map((table) => table.target) } };
}

function planAlter(statement: Extract<Statement, { kind: "alter" }>, known: KnownTables, table: MigrationTable | null, exchanged: MigrationTable | null): TargetPlan {
  const other = exchanged === null ? [] : [unchanged(exchanged)];
  if (table === null) return { ...planRename(statement, known), restarted: other };
  const move = statement.renameTo === null ? null : planRename(statement, known);
  if (move !== null && move.removed.length > 0) return move;
  const self = move?.changed[0] ?? move?.restarted[0] ?? unchanged(table);
  // Rows that come from a table or a file that the target does not have, or in an order that it need not have.
  const elsewhere = statement.refills || (statement.exchange !== null && exchanged === null) || known.twoFamilies;
  // Rows that the filter left out may be wanted now, and the other way round.
  const filtered = table.where !== null || exchanged?.where != null;
  if (elsewhere || filtered || (move !== null && move.restarted.length > 0)) return { ...NOTHING, restarted: [self, ...other] };
  const names = [{ at: statement.table, as: table.target }];
  if (statement.renameTo !== null) names.push({ at: statement.renameTo, as: self.target });
  if (statement.exchange !== null && exchanged !== null) names.push({ at: statement.exchange, as: exchanged.target });
  return {
    ...NOTHING,
    run: { kind: "statement", names: [...names, ...referenceNames(statement.references, table.source.schema, known)] },
    touched: [table.target, ...(move === null ? [] : [self.target]), ...other.map((o) => o.target)],
    ambiguous: statement.reversible,
    changed: [self, ...other],
  };
}

function planCreate(statement: Extract<Statement, { kind: "create" }>, known: KnownTables, withRows: boolean): TargetPlan {
  const name = nameOf(statement.table);
  const there = known.find(name);
  if (there !== undefined) {
    if (known.hasSeen(there) || statement.ifNotExists) return NOTHING;
    if (statement.orReplace) return { ...NOTHING, restarted: [unchanged(there)] };
    throw new DroverError("DDL_UNSUPPORTED", `${name.schema}.${name.table} is created, but the migration follows a table of that name already`, {
      cure: "DDL was passed over before (options.ddl): start the migration anew",
    });
  }
  const selected = known.selection.select(name);
  if (selected === null) return NOTHING;
  const like = statement.like === null ? undefined : known.find(nameOf(statement.like));
  const likeKnown = like !== undefined && !known.hasSeen(like);
  if (statement.filled || withRows || statement.orReplace || known.twoFamilies || (statement.like !== null && !likeKnown)) return { ...NOTHING, joining: [selected] };
  const names = [{ at: statement.table, as: selected.target }];
  if (statement.like !== null && like !== undefined) names.push({ at: statement.like, as: like.target });
  return {
    ...NOTHING,
    run: { kind: "statement", names: [...names, ...referenceNames(statement.references, name.schema, known)] },
    touched: [selected.target],
    created: selected,
  };
}

/** RENAME TABLE, or the RENAME clause of an ALTER. */
function planRename(statement: Statement, known: KnownTables): TargetPlan {
  const plan: TargetPlan = { ...NOTHING, changed: [], restarted: [], joining: [], removed: [] };
  const renamed = renamedTables(statement, known);
  for (const { table, to } of renamed) {
    const holder = known.find(to);
    const free = holder === undefined || renamed.some((r) => r.table === holder);
    const selected = known.selection.select(to);
    if (table === null) {
      // Its rows so far were not followed.
      if (selected !== null && free) plan.joining.push(selected);
    } else if (!free) {
      // The name's table is followed as it is later than this statement, with these rows in it.
      plan.removed.push(table);
    } else {
      // Under a name that the spec does not select it stays followed, with the filter that it has.
      const changed = { table, source: to, target: known.selection.target(to), where: selected === null ? table.where : selected.where };
      (changed.where === table.where ? plan.changed : plan.restarted).push(changed);
    }
  }
  if (plan.restarted.length > 0) return { ...plan, changed: [], restarted: [...plan.restarted, ...plan.changed] };
  if (plan.removed.length > 0) return { ...plan, changed: [], restarted: plan.changed };
  if (plan.changed.length === 0) return plan;
  // Names in between have a place on the target too.
  const place = (name: TableName) => known.find(name)?.target ?? known.selection.target(name);
  const pairs = followedPairs(statement, known).map(({ from, to }) => ({ from: place(from), to: place(to) }));
  const before = plan.changed.map(({ table }) => table.target);
  const after = plan.changed.map((changed) => changed.target);
  return {
    ...plan,
    run: { kind: "rename", pairs },
    touched: [...before, ...after],
    ambiguous: after.every((name) => before.some((other) => other.schema === name.schema && other.table === name.table)),
  };
}

function unchanged(table: MigrationTable): ChangedTable {
  return { table, source: table.source, target: table.target, where: table.where };
}

/** A reference without a schema means the schema of the table that has it. */
function referenceNames(references: readonly TableReference[], schema: string, known: KnownTables): { at: TableReference; as: TableName }[] {
  return references.map((at) => {
    const name = { schema: at.qualified ? at.schema : schema, table: at.table };
    return { at, as: known.find(name)?.target ?? known.selection.target(name) };
  });
}
