/**
 * Step 1 of the protocol: from a recorded spec to a fence, table rows and created target tables. Every part can be run
 * again: positions and definitions are recorded before the first table is created, and only a table that is still
 * `pending` is created.
 */
import { readTableDefinition } from "../../shared/columns/read-table.js";
import { sameShape } from "../../shared/columns/same-shape.js";
import type { MigrationSpec } from "../../shared/contracts/spec.js";
import type { TableDefinition } from "../../shared/columns/table-definition.js";
import { DroverError } from "../../shared/errors.js";
import type { ByteSql } from "../../shared/mysql/bytes.js";
import { executedPosition } from "../../shared/mysql/position.js";
import { resolveTables } from "../../shared/selection/index.js";
import { keyProblem } from "../../shared/selection/no-key.js";
import type { Session } from "../../shared/mysql/session.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { withPulse } from "../progress-pulse.js";
import { withDdlLock } from "../target/ddl-lock.js";
import { isBehind, tableInTheWay } from "./in-the-way.js";
import { isGone } from "./present-table.js";
import { readSourceTable } from "./source-table.js";
import { requireTargetPlace } from "./target-place.js";
import { ensureTargetSchema, prepareTarget } from "./target-table.js";

/** Tables that are created under one DDL lock: another worker that waits for it meanwhile should not give up. */
const PORTION = 50;
/** Sessions that read definitions at the same time. */
const READERS = 4;

export async function prepareMigration(context: EngineContext, ref: MigrationRef, migration: Migration, signal: AbortSignal): Promise<void> {
  const { connections, state } = context;
  let tables = await connections.use(ref.target, "target", signal, (session) => state.tables.list(session, ref.migration));
  if (tables.length === 0) tables = await recordTables(context, ref, migration, signal);
  // Recorded by an earlier attempt, or an earlier version.
  else await requireTargetPlace(context, migration.spec, tables, [], signal);
  const pending = tables.filter((table) => table.phase === "pending").map((table) => table.number);
  await withPulse(context, ref, signal, async () => {
    for (let rest = pending; rest.length > 0; ) {
      const portion = rest.slice(0, PORTION);
      const { left, created } = await createTargets(context, ref, migration, portion, signal);
      // The refusal has ended the session, and the lock with it: under the lock again, and only what nobody else has taken up meanwhile.
      if (left !== null) await withDdlLock(context, ref, signal, (session) => recordCreated(context, ref, session, created));
      rest = rest.slice(left === null ? portion.length : portion.indexOf(left) + 1);
    }
  });
  const next = migration.spec.mode === "follow" ? "catching-up" : "copying";
  await connections.use(ref.target, "target", signal, (session) => state.migrations.changePhase(session, ref.migration, ["planning"], next));
}

async function recordTables(context: EngineContext, ref: MigrationRef, migration: Migration, signal: AbortSignal): Promise<MigrationTable[]> {
  const { connections, state } = context;
  const { spec } = migration;
  // P0 comes before every definition and every chunk read: what happens after it is followed (I2).
  const start = spec.startPosition ?? (await connections.use(spec.source, "source", signal, executedPosition));
  if (spec.mode !== "copy") await requireNoPreparedTransactions(context, spec.source, signal);
  const selected = await connections.use(spec.source, "source", signal, (source) => resolveTables(source, spec));
  if (selected.problems.length > 0)
    throw new DroverError("PREFLIGHT_FAILED", selected.problems.map((p) => p.message).join("; "), { problems: selected.problems });
  await requireTargetPlace(context, spec, selected.tables, [], signal);
  const tables: MigrationTable[] = [];
  await inLanes(context, spec.source, selected.tables, signal, async (session, { source: name, target, where }, i) => {
    const { definition, startPosition } = await readSourceTable(session, name).catch((error: unknown) => {
      // Dropped since it was listed: the list is read again, and says so where the spec names the table.
      throw isGone(error) ? new DroverError("TABLE_CHANGED", `${name.schema}.${name.table} was dropped or renamed while the tables were read`, { cause: error }) : error;
    });
    const problem = keyProblem(spec, definition, where, session.isMariaDb);
    if (problem !== null) throw new DroverError("PREFLIGHT_FAILED", problem.message, { cure: problem.cure });
    tables[i] = {
      number: i + 1, source: name, target, where, definition,
      // With mode `follow` the rows are there already, as of the start position.
      startPosition: spec.mode === "follow" ? start : startPosition,
      phase: "pending", planned: false, plannedTo: null, lastKey: null, noKeyMark: null, deferredIndexes: [], overlay: false, generation: 0, copiedPosition: null,
      rowsEstimated: definition.rowsEstimated,
    };
  });
  return await connections.transaction(ref.target, "target", signal, async (session) => {
    await state.fence.create(session, ref.migration, start);
    // Whoever locks the fence first records the tables; a second preparer finds them there.
    await state.fence.require(session, ref.migration, "update");
    const known = await state.tables.list(session, ref.migration);
    if (known.length > 0) return known;
    await state.claims.claim(session, ref.migration, tables.map((table) => table.target));
    for (const table of tables) await state.tables.put(session, ref.migration, table);
    return await state.tables.list(session, ref.migration);
  });
}

/** Every item once, by several sessions of a server. The first error ends all of them. */
async function inLanes<T>(context: EngineContext, server: string, items: readonly T[], signal: AbortSignal, work: (session: Session, item: T, index: number) => Promise<void>): Promise<void> {
  const queue = items.entries();
  let failed = false;
  const lane = () =>
    context.connections.use(server, "source", signal, async (session) => {
      try {
        for (const [i, item] of queue) {
          if (failed) return;
          await work(session, item, i);
        }
      } catch (error) {
        failed = true;
        throw error;
      }
    });
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(READERS, items.length) }, lane));
  const broken = lanes.find((result) => result.status === "rejected");
  if (broken) throw broken.reason;
}

/**
 * Rows of an XA transaction stand in the binlog where it was prepared, and become visible where it is committed: one that is
 * prepared before P0 and committed after it would be seen neither by a chunk read nor by the follow. The look comes after P0:
 * what is prepared later has its rows in the stream.
 */
async function requireNoPreparedTransactions(context: EngineContext, source: string, signal: AbortSignal): Promise<void> {
  const prepared = await context.connections.use(source, "source", signal, (session) => session.rows("XA RECOVER" as ByteSql)).catch((error: unknown) => {
    // MySQL 8 shows them to holders of XA_RECOVER_ADMIN only (1227): docs/grants.md says what that means.
    if (error instanceof DroverError && (error.errno === 1227 || error.errno === 1401)) return [];
    throw error;
  });
  if (prepared.length > 0)
    throw new DroverError("SERVER_BUSY", `${source}: ${prepared.length} prepared XA transactions wait for their commit`, { cure: "commit or roll them back (XA RECOVER lists them); the migration begins by itself then" });
}

/**
 * One worker at a time, and only tables that are `pending`: a turn of the reconciler may come while another one is at it.
 * @returns `left`: a table that is left `pending`, since the source was altered meanwhile; those behind it are not looked at yet, and those before
 * it, `created`, are not recorded
 */
async function createTargets(context: EngineContext, ref: MigrationRef, { spec }: Migration, numbers: readonly number[], signal: AbortSignal): Promise<{ left: number | null; created: MigrationTable[] }> {
  const { connections, state } = context;
  return await withDdlLock(context, ref, signal, async (session) => {
    const schemas = new Set<string>();
    const created: MigrationTable[] = [];
    let left: number | null = null;
    for (const number of numbers) {
      const { phase } = await state.migrations.require(session, ref.migration);
      const table = await state.tables.require(session, ref.migration, number);
      // Paused, stopped or removed while it was being planned: nothing may be created or dropped any more.
      if (phase !== "planning") break;
      if (table.phase !== "pending") continue;
      const schema = JSON.stringify([table.source.schema, table.target.schema]);
      if (!schemas.has(schema)) await connections.use(spec.source, "source", signal, (source) => ensureTargetSchema(source, session, table.source.schema, table.target.schema));
      schemas.add(schema);
      const made = await createTarget(context, ref, spec, session, table).catch(async (error: unknown) => {
        if (spec.mode === "follow" || !(await isOutdated(context, ref, spec, error, table, created, signal))) throw error;
        return null;
      });
      if (made === null) {
        left = number;
        break;
      }
      created.push(made);
    }
    // All at once, for a commit costs as much as a small table. What is not recorded is empty yet, and is found so or created anew.
    if (left === null) await recordCreated(context, ref, session, created);
    return { left, created };
  });
}

/**
 * Whether a table was refused because the source has altered it, or one that stands in its way, since the definitions were read. It stays `pending`,
 * and is created from the source's definition of then when the copy begins, as a table that starts over.
 */
async function isOutdated(context: EngineContext, ref: MigrationRef, spec: MigrationSpec, error: unknown, table: MigrationTable, created: readonly MigrationTable[], signal: AbortSignal): Promise<boolean> {
  if (!(error instanceof DroverError) || error.code !== "STATEMENT_REFUSED") return false;
  if (await isBehind(context, spec.source, table, signal)) return true;
  const recorded = await context.connections.use(ref.target, "target", signal, (session) => context.state.tables.list(session, ref.migration));
  const all = recorded.map((other) => created.find((each) => each.number === other.number) ?? other);
  return (await tableInTheWay(context, ref, spec.source, error, table, all, signal)) !== null;
}

/** @returns the table as it is to be recorded */
async function createTarget(context: EngineContext, ref: MigrationRef, spec: MigrationSpec, session: Session, table: MigrationTable): Promise<MigrationTable> {
  const present = await readTableDefinition(session, table.target.schema, table.target.table);
  if (spec.mode === "follow") {
    // The target's table is as of the start position, its shape too; the source's may have been altered since.
    if (present === null)
      throw new DroverError("PREFLIGHT_FAILED", `the target table ${table.target.schema}.${table.target.table} does not exist`, { cure: "mode follow needs the tables as of the start position; copy them first" });
    return { ...table, definition: { ...present, ...table.source }, phase: "copied", planned: true };
  }
  if (spec.options.existingTarget !== "replace") requireSameShape(table, present);
  const prepared = await prepareTarget(session, table, present, spec.options.existingTarget, async (deferredIndexes) => {
    if (!(await recordCreated(context, ref, session, [{ ...table, deferredIndexes }]))) throw new DroverError("FENCE_MOVED", `the tables of ${ref.migration} were created by another worker meanwhile`);
  });
  return { ...table, ...prepared, phase: "planning" };
}

/**
 * Under the fence's lock, and only what is still to be created: a zombie must not put back a table that others have created, copied and follow
 * by now, nor a migration that was removed. On the session that holds the DDL lock: it has no transaction open, and one more would have to be opened for each planning.
 * @returns whether they are recorded
 */
async function recordCreated({ state }: EngineContext, ref: MigrationRef, session: Session, tables: readonly MigrationTable[]): Promise<boolean> {
  if (tables.length === 0) return true;
  await session.run("BEGIN" as ByteSql);
  await state.fence.require(session, ref.migration, "update");
  const { phase } = await state.migrations.require(session, ref.migration);
  const recorded = new Map((await state.tables.progress(session, ref.migration)).map((table) => [table.number, table]));
  const due = phase === "planning" && tables.every((table) => {
    const now = recorded.get(table.number);
    return now?.phase === "pending" && now.generation === table.generation;
  });
  if (due) for (const table of tables) await state.tables.put(session, ref.migration, table);
  await session.run((due ? "COMMIT" : "ROLLBACK") as ByteSql);
  return due;
}

/** The preflight has looked, if there was one: a bare job on the queue `control` comes without. */
function requireSameShape(table: MigrationTable, present: TableDefinition | null): void {
  const { schema, table: name } = table.target;
  const problems = present === null ? [] : sameShape(table.definition, present);
  if (problems.length === 0) return;
  throw new DroverError("PREFLIGHT_FAILED", `the target table ${schema}.${name} does not fit the source's: ${problems.map((p) => p.message).join("; ")}`, { problems });
}
