/**
 * Carries a statement of the source out on the target, while the follow stands right before it.
 *
 *     lock ─▶ fence where the batch begins? ─▶ journal: shapes before ─▶ run ─▶ read new definitions ─▶ (state and fence in one transaction) ─▶ unlock
 *
 * All of it on the session that holds the lock. Were the fence moved behind it, or on another session, a second executor could find it where
 * the batch begins, and run the statement over rows of later ones. A crash between `run` and the fence leaves the journal: the next attempt sees whether the shapes have changed, and runs the statement
 * again only where that does nothing or has not been done. A statement that was refused has not been done, and the journal forgets it: whoever
 * then makes the target's table fit changes its shape, and a journal that stayed would take that for the statement.
 */
import type { BatchStatement } from "../../shared/backlog/batch.js";
import { readTableDefinition } from "../../shared/columns/read-table.js";
import { shapeOf } from "../../shared/columns/show-create.js";
import type { TableDefinition, TableName } from "../../shared/columns/table-definition.js";
import { DroverError } from "../../shared/errors.js";
import { qualified, sql, type ByteSql } from "../../shared/mysql/bytes.js";
import { Position } from "../../shared/mysql/position.js";
import type { Session } from "../../shared/mysql/session.js";
import type { SelectedTable } from "../../shared/selection/selected-table.js";
import type { MoveFence, StatementContext, StatementExecutor } from "../apply/statement-barrier.js";
import type { EngineContext } from "../context.js";
import { ensureTargetSchema } from "../planner/target-table.js";
import { readIgnoreCase } from "../tail/shape-difference.js";
import type { KnownTables } from "./concerns.js";
import { withDdlLock } from "../target/ddl-lock.js";
import { withPulse } from "../progress-pulse.js";
import { presentTable } from "../planner/present-table.js";
import { requireTargetPlace } from "../planner/target-place.js";
import { recordPlan, type JoiningTable, type PlanResult } from "./record-plan.js";
import { didNotHappen, refusal } from "./refused-statement.js";
import { rewriteStatement } from "./rewrite-statement.js";
import { SelectionMap } from "../../shared/selection/selection-map.js";
import { UnreadableStatement } from "../../shared/sql/unreadable-statement.js";
import { unreadable } from "./statement-policy.js";
import { prepareSession } from "./statement-session.js";
import { encodeName, readStatementText, type AskSource, type KnownStatement } from "./statement-text.js";
import { requireTransactions } from "./require-transactions.js";
import { isMoved, planStatement, type Execution, type TargetPlan } from "./target-plan.js";
import { alterTargetSchema } from "./target-schema.js";

/** DDL works in silence; the kernel's keepalive tells when the server is gone. */
const PATIENCE = 7 * 24 * 3_600_000;

export function createStatementExecutor(context: EngineContext): StatementExecutor {
  return {
    execute: async (statement, scope, move, signal) => {
      try {
        return await new Execute(context, statement, scope, signal).run(move);
      } catch (error) {
        throw error instanceof UnreadableStatement ? unreadable(error, statement.gtid) : error;
      }
    },
  };
}

class Execute {
  private readonly context: EngineContext;
  private readonly statement: BatchStatement;
  private readonly scope: StatementContext;
  private readonly signal: AbortSignal;
  private readonly ask: AskSource;
  /** The statement was tried, and has certainly not been executed. */
  private refused = false;

  constructor(context: EngineContext, statement: BatchStatement, scope: StatementContext, signal: AbortSignal) {
    this.context = context;
    this.statement = statement;
    this.scope = scope;
    this.signal = signal;
    this.ask = (work) => context.connections.use(scope.migration.spec.source, "source", signal, work);
  }

  async run<T>(move: MoveFence<T>): Promise<T> {
    const { statement, scope, context } = this;
    const ignoreCase = await this.ask(readIgnoreCase);
    const known = await readStatementText({ ...statement, sqlMode: BigInt(statement.sqlMode), text: statement.sql }, ignoreCase, this.ask);
    const plan = planStatement(known.statement, this.knownTables(ignoreCase, await this.twoFamilies()), statement.withRows);
    const joining = await this.findJoining(plan);
    await this.requirePlaces(arriving(plan));
    context.log.info({ migration: scope.ref.migration, gtid: statement.gtid, statement: known.statement.kind, restarted: plan.restarted.length, joining: joining.length }, "DDL of the source");
    try {
      return await withDdlLock(context, scope.ref, this.signal, async (session) => {
        await this.requireFence(session);
        const result = await this.carryOut(session, known, { ...plan, joining: joining.map((table) => table.selected) });
        await context.hooks.at("ddl:before-fence", { migration: scope.ref.migration });
        return await move(session, (inside) => recordPlan(context.state, inside, scope.ref.migration, { ...result, joining }));
      });
    } catch (error) {
      // Should this fail, its own error is told: a retryable one, behind which the statement is refused again.
      if (this.refused) await this.forget(plan);
      throw error;
    }
  }

  /**
   * The error took the session and its lock along: others may have been at work since. Where the shapes are not those of before, one of
   * them has executed the statement.
   */
  private async forget(plan: TargetPlan): Promise<void> {
    const { context, scope, statement } = this;
    const { ddlJournal } = context.state;
    await withDdlLock(context, scope.ref, this.signal, async (session) => {
      const entry = await ddlJournal.read(session, scope.ref.migration);
      if (entry?.gtid !== statement.gtid || entry.startOver) return;
      const shapes = await shapesOf(session, plan.touched);
      if (entry.shapes.every((shape, i) => shape === shapes[i])) await ddlJournal.remove(session, scope.ref.migration);
    });
  }

  private async twoFamilies(): Promise<boolean> {
    const { connections } = this.context;
    const source = await this.ask(async (session) => session.isMariaDb);
    return source !== (await connections.use(this.scope.ref.target, "target", this.signal, async (session) => session.isMariaDb));
  }

  private knownTables(ignoreCase: boolean, twoFamilies: boolean): KnownTables {
    const { tables, migration } = this.scope;
    const selection = new SelectionMap(migration.spec, ignoreCase);
    const behind = (position: string | null) => position !== null && Position.parse(position).contains(this.statement.gtid);
    return {
      list: tables,
      selection,
      find: (name) => tables.find((table) => selection.sameTable(table.source, name)),
      hasSeen: (table) => behind(table.startPosition),
      wasReadBehind: (table) => behind(table.copiedPosition),
      twoFamilies,
    };
  }

  /** Tables whose rows must be copied. One that the source does not have at present has ended since: the statement that ended it is still to come. */
  private async findJoining(plan: TargetPlan): Promise<JoiningTable[]> {
    const found: JoiningTable[] = [];
    for (const selected of plan.joining) {
      const source = await presentTable(this.context, this.scope.migration.spec.source, selected.source, this.signal);
      if (source !== null) found.push({ selected, ...source });
    }
    return found;
  }

  /** Before anything runs: what is found out only when it is recorded has happened on the target. */
  private async requirePlaces(arrivals: readonly Pick<SelectedTable, "source" | "target">[]): Promise<void> {
    if (arrivals.length === 0) return;
    const { connections, state } = this.context;
    const { ref, migration, tables } = this.scope;
    await requireTargetPlace(this.context, migration.spec, arrivals, tables, this.signal);
    await connections.use(ref.target, "target", this.signal, (session) => state.claims.requireFree(session, ref.migration, arrivals.map((table) => table.target)));
  }

  private async requireFence(session: Session): Promise<void> {
    const { info, ref } = this.scope;
    const fence = await this.context.state.fence.require(session, ref.migration);
    if (fence.epoch !== info.epoch || fence.seq + 1 !== info.seq || fence.position !== info.from)
      throw new DroverError("FENCE_MOVED", `the fence of ${ref.migration} moved before the statement of batch ${info.seq} was executed`);
  }

  private async carryOut(session: Session, known: KnownStatement, plan: TargetPlan): Promise<PlanResult> {
    const { state, hooks } = this.context;
    const { migration } = this.scope.ref;
    const detail = { migration, gtid: this.statement.gtid };
    await this.ensureSchemas(session, plan);
    const shapes = await shapesOf(session, plan.touched);
    const entry = await state.ddlJournal.read(session, migration);
    const again = entry?.gtid === this.statement.gtid ? entry : null;
    if (again === null) await state.ddlJournal.begin(session, migration, { gtid: this.statement.gtid, shapes });
    const done = again !== null && again.shapes.some((shape, i) => shape !== shapes[i]);
    await hooks.at("ddl:before-execute", detail);
    if (again?.startOver === true || (again !== null && !done && plan.ambiguous)) return await this.startOver(session, plan);
    const { run } = plan;
    if (run !== null && !done) {
      await withPulse(this.context, this.scope.ref, this.signal, () => this.execute(session, known, run)).catch((error: unknown) => {
        this.refused = didNotHappen(error, plan);
        throw refusal(error, known.statement.kind, plan, this.statement.gtid);
      });
    }
    await dropTables(session, [...plan.removed.map((table) => table.target), ...plan.restarted.map(({ table }) => table.target)]);
    const definitions = new Map<TableName, TableDefinition>();
    for (const { source, target } of [...plan.changed, ...(plan.created === null ? [] : [plan.created])]) definitions.set(target, await this.definition(session, source, target));
    return { plan, definitions, joining: [] };
  }

  /** Nobody can tell whether the statement ran: its tables are copied anew. */
  private async startOver(session: Session, plan: TargetPlan): Promise<PlanResult> {
    await this.context.state.ddlJournal.setStartOver(session, this.scope.ref.migration);
    await dropTables(session, plan.changed.map(({ table }) => table.target));
    return { plan: { ...plan, changed: [], restarted: [...plan.restarted, ...plan.changed] }, definitions: new Map(), joining: [] };
  }

  private async ensureSchemas(session: Session, plan: TargetPlan): Promise<void> {
    const places = [...plan.changed, ...plan.restarted, ...plan.joining, ...(plan.created === null ? [] : [plan.created])];
    for (const { source, target } of places) await this.ask((from) => ensureTargetSchema(from, session, source.schema, target.schema));
  }

  private async execute(session: Session, known: KnownStatement, run: Execution): Promise<void> {
    const patience = { patience: PATIENCE };
    switch (run.kind) {
      case "statement": {
        const replacements = [];
        for (const { at, as } of run.names)
          replacements.push({ at, as: { schema: await encodeName(as.schema, known.charset, this.ask), table: await encodeName(as.table, known.charset, this.ask) } });
        await prepareSession(session, this.statement, this.ask);
        await session.run(rewriteStatement(this.statement.sql, replacements, known.marks), patience);
        await session.run(OWN_SETTINGS);
        return;
      }
      case "truncate":
        await session.run(sql`TRUNCATE TABLE ${qualified(run.target.schema, run.target.table)}`, patience);
        return;
      case "drop":
        return await dropTables(session, run.targets);
      case "rename": {
        const pairs = run.pairs.map(({ from, to }) => sql`${qualified(from.schema, from.table)} TO ${qualified(to.schema, to.table)}`).join(", ") as ByteSql;
        await session.run(sql`RENAME TABLE ${pairs}`, patience);
        return;
      }
      case "alter-schema":
        return await alterTargetSchema(session, run.schema, run.statement);
    }
  }

  /** The target's table has the shape now that the source's had at this point of the binlog. */
  private async definition(session: Session, source: TableName, target: TableName): Promise<TableDefinition> {
    const definition = await readTableDefinition(session, target.schema, target.table);
    if (definition === null) throw new DroverError("STATEMENT_REFUSED", `${session.server}: the table ${target.schema}.${target.table} is gone`);
    requireTransactions(definition, session.server, `since transaction ${this.statement.gtid}`);
    return { ...definition, ...source };
  }
}

/** What stands under a name of the target behind the statement that it did not have before. */
function arriving({ changed, restarted, created, joining }: TargetPlan): Pick<SelectedTable, "source" | "target">[] {
  const moved = [...changed, ...restarted].filter(isMoved);
  return [...moved, ...joining, ...(created === null ? [] : [created])];
}

/** Back from the statement's settings to those that our own statements and readings need. */
const OWN_SETTINGS = "SET NAMES binary, SESSION sql_mode='NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES', SESSION time_zone='+00:00', SESSION timestamp=DEFAULT" as ByteSql;

/** Dropping what is not there any more is how a second attempt comes to the same end. */
async function dropTables(session: Session, targets: readonly TableName[]): Promise<void> {
  if (targets.length === 0) return;
  const names = targets.map((target) => qualified(target.schema, target.table)).join(", ") as ByteSql;
  await session.run(sql`DROP TABLE IF EXISTS ${names}`, { patience: PATIENCE });
}

/** What the tables look like; their AUTO_INCREMENT counters move by rows too. */
async function shapesOf(session: Session, names: readonly TableName[]): Promise<(string | null)[]> {
  const shapes: (string | null)[] = [];
  for (const { schema, table } of names) {
    const definition = await readTableDefinition(session, schema, table);
    shapes.push(definition === null ? null : shapeOf(definition.createStatement));
  }
  return shapes;
}
