/** What the tail does about a statement: by its grammar, the followed tables, the migration's phase and its policy. */
import type { MigrationSpec } from "../../shared/contracts/spec.js";
import { readTableDefinition } from "../../shared/columns/read-table.js";
import type { TableName } from "../../shared/columns/table-definition.js";
import { DroverError } from "../../shared/errors.js";
import type { BinlogStatement } from "../binlog/events.js";
import { notFollowed } from "../tail/missed-tables.js";
import type { StatementDecision, StatementPolicy, StatementScope } from "../tail/statements.js";
import { concernsOf, nameOf, type Concerns, type KnownTables } from "./concerns.js";
import { followNames } from "./follow-names.js";
import { renamedTables } from "./renamed-tables.js";
import { SelectionMap } from "../../shared/selection/selection-map.js";
import type { Statement } from "./sql/statement.js";
import { UnreadableStatement } from "../../shared/sql/unreadable-statement.js";
import { readStatementText } from "./statement-text.js";
import { alterTargetSchema } from "./target-schema.js";

export function createStatementPolicy(): StatementPolicy {
  return { decide };
}

async function decide(binlog: BinlogStatement, scope: StatementScope, signal: AbortSignal): Promise<StatementDecision> {
  const { context, ref, spec, tables, gtid } = scope;
  const { connections, state } = context;
  const text = { ...binlog, text: binlog.sql.toString("latin1") };
  const statement = await known(readStatementText(text, tables.ignoreCase, (work) => connections.use(spec.source, "source", signal, work)), gtid);
  const selection = new SelectionMap(spec, tables.ignoreCase);
  const lookUp: KnownTables = {
    find: (name) => tables.get(name.schema, name.table), list: tables.list, selection, hasSeen: (table) => tables.isSkipped(table),
    // What these two decide is the executor's.
    wasReadBehind: () => false, twoFamilies: false,
  };
  const concerns = concernsOf(statement, lookUp);
  await requireNoneMissed(statement, scope, selection, signal);
  if (concerns.tables.length === 0 && concerns.joining.length === 0 && !concerns.schema) return "ignore";
  requireFollowable(statement, concerns, spec, gtid);
  if (spec.options.ddl === "ignore") return "ignore";
  // The phase of now: it may have changed since the tail began.
  const migration = await connections.use(ref.target, "target", signal, (session) => state.migrations.require(session, ref.migration));
  if (migration.phase === "catching-up" || migration.phase === "streaming") return "barrier";
  // Paused or stopped: the tail sees it by itself.
  if (migration.phase !== "copying") return "restarted";
  if (statement.kind === "alter-schema") {
    await connections.use(ref.target, "target", signal, (session) => alterTargetSchema(session, selection.targetSchema(statement.schema), statement));
    return "ignore";
  }
  const outcome = await followNames(context, ref, { migration, gtid, concerns, renamed: renamedTables(statement, lookUp), selection }, signal);
  if (outcome === "unchanged") return "ignore";
  context.log.info({ migration: ref.migration, gtid, tables: concerns.tables.map((t) => `${t.source.schema}.${t.source.table}`) }, "DDL during the copy: these tables start over");
  // Not copying any more: the next lease meets the statement again and makes a barrier of it.
  return "restarted";
}

/** @throws DroverError DDL_UNSUPPORTED when it changes a table that is not followed and that the target has */
async function requireNoneMissed(statement: Statement, { context, ref, spec, tables }: StatementScope, selection: SelectionMap, signal: AbortSignal): Promise<void> {
  if (spec.mode !== "follow" || spec.options.ddl === "ignore") return;
  for (const name of changedNames(statement)) {
    const selected = tables.get(name.schema, name.table) === undefined ? selection.select(name) : null;
    if (selected === null) continue;
    const { schema, table } = selected.target;
    const there = await context.connections.use(ref.target, "target", signal, (session) => readTableDefinition(session, schema, table));
    if (there !== null) throw notFollowed(name, "a statement changes it");
  }
}

/** Tables that are there before the statement, and not after it or not the same. */
function changedNames(statement: Statement): TableName[] {
  if (statement.kind === "drop") return statement.tables.map(nameOf);
  if (statement.kind === "alter" || statement.kind === "truncate") return [nameOf(statement.table)];
  return statement.kind === "rename" ? statement.pairs.map(({ from }) => nameOf(from)) : [];
}

/** @throws DroverError DDL_UNSUPPORTED for what stops a migration */
function requireFollowable(statement: Statement, concerns: Concerns, spec: MigrationSpec, gtid: string): void {
  const names = [...concerns.tables.map((table) => table.source), ...concerns.joining].map((name) => `${name.schema}.${name.table}`).join(", ");
  if (statement.kind === "rows")
    throw new DroverError("DDL_UNSUPPORTED", `transaction ${gtid} changes rows of ${names} in statement format: the binlog does not tell which`, {
      cure: "set binlog_format=ROW on the source, globally and in sessions that set their own, and start the migration anew",
    });
  if ((statement.kind === "alter" || statement.kind === "create") && statement.unsupported !== null)
    throw new DroverError("DDL_UNSUPPORTED", `transaction ${gtid} has ${statement.unsupported} in a statement on ${nameText(nameOf(statement.table))}`, {
      cure: "MERGE tables are not followed: leave the table out of the migration",
    });
  if (spec.options.ddl === "stop" && names !== "")
    throw new DroverError("DDL_UNSUPPORTED", `transaction ${gtid} is DDL on ${names}, and the migration stops at DDL (options.ddl)`, {
      cure: 'start the migration anew with options.ddl "apply"',
    });
}

function nameText({ schema, table }: { schema: string; table: string }): string {
  return `${schema}.${table}`;
}

async function known(reading: Promise<{ statement: Statement }>, gtid: string): Promise<Statement> {
  try {
    return (await reading).statement;
  } catch (error) {
    if (!(error instanceof UnreadableStatement)) throw error;
    // It could be about any table.
    throw unreadable(error, gtid);
  }
}

export function unreadable(error: UnreadableStatement, gtid: string): DroverError {
  return new DroverError("DDL_UNSUPPORTED", `the statement of transaction ${gtid} cannot be classified: ${error.message}`, {
    cure: "see docs/ddl.md for what is followed; if it is no business of the followed tables, please report it",
  });
}
