/**
 * A table starts over (design §4, "DDL on the source"): its target is dropped and created anew from the source's definition of
 * now, and its rows are copied again, while the other tables go on.
 *
 *     copying ──startOver──▶ pending ──source read, target created──▶ planning
 *
 * Each step can be run again after a crash: a table that is found `pending` is created again. Both steps bump the fence's
 * epoch in the transaction that changes the table: the first voids chunk work and batches of the old shape, the second the
 * batches that were cut while the table had no start position.
 */
import { readTableDefinition } from "../../shared/columns/read-table.js";
import type { TableName } from "../../shared/columns/table-definition.js";
import type { MigrationOptions } from "../../shared/contracts/spec.js";
import { DroverError } from "../../shared/errors.js";
import { qualified, sql, type ByteSql } from "../../shared/mysql/bytes.js";
import { sameKey } from "../../shared/keys/same-key.js";
import { positionCovers } from "../../shared/mysql/position.js";
import { keyProblem } from "../../shared/selection/no-key.js";
import type { Session } from "../../shared/mysql/session.js";
import { DiffState } from "../../shared/state/diff-state.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { endOldBuilds } from "../planner/build-indexes.js";
import { ensureTargetSchema, recreateTarget, SMALL_TABLE_ROWS } from "../planner/target-table.js";
import { requireTransactions } from "./require-transactions.js";
import { waitUntilVisible } from "../visibility.js";
import { keepBuildersOut, withDdlLock } from "../target/ddl-lock.js";
import { tableInTheWay } from "../planner/in-the-way.js";
import { presentTable } from "../planner/present-table.js";
import { requireTargetPlace } from "../planner/target-place.js";

/**
 * `restarted`: its chunks are to be planned now, and the backlog's chain is void.
 * `missing`: the source has no such table at present; nothing was changed, the statement that says why is still to come in the binlog.
 * `not-due`: the migration is not copying, or has no such table any more.
 */
export type RestartOutcome = "restarted" | "missing" | "not-due";

/** How often a CREATE is tried again that was refused for the sake of something that is not there any more. */
const AGAIN = 5;

/** Starts a table over, or goes on with one that is `pending`. For a migration in the phase `copying`. */
export async function restartTable(context: EngineContext, ref: MigrationRef, number: number, signal: AbortSignal): Promise<RestartOutcome> {
  const { connections, state } = context;
  const found = await connections.use(ref.target, "target", signal, async (session) => ({
    migration: await state.migrations.require(session, ref.migration),
    table: (await state.tables.list(session, ref.migration)).find((table) => table.number === number),
  }));
  const { migration, table } = found;
  if (migration.phase !== "copying" || table === undefined) return "not-due";
  const { schema, table: name } = table.source;
  if ((await presentTable(context, migration.spec.source, table.source, signal)) === null) {
    // Where nobody follows DDL, nobody will say what became of it.
    if (migration.spec.mode !== "copy" && migration.spec.options.ddl !== "ignore") return "missing";
    throw new DroverError("STATEMENT_REFUSED", `${migration.spec.source}: the table ${schema}.${name} is gone`, { cure: "remove the migration and start it without this table" });
  }
  if (migration.spec.options.ddl === "stop" && table.phase !== "pending")
    throw new DroverError("DDL_UNSUPPORTED", `there was DDL on ${schema}.${name} while it was being copied, and the migration stops at DDL (options.ddl)`, { cure: 'start the migration anew with options.ddl "apply"' });
  if (table.phase !== "pending" && !(await startOver(context, ref, table, signal))) return "not-due";
  await endOldBuilds(context, ref, table, signal);
  return await createPending(context, ref, number, signal);
}

/** @returns false when the migration is not copying, or the table has started over meanwhile */
async function startOver(context: EngineContext, ref: MigrationRef, table: MigrationTable, signal: AbortSignal): Promise<boolean> {
  const { connections, state } = context;
  return await connections.transaction(ref.target, "target", signal, async (session) => {
    await state.fence.require(session, ref.migration, "update");
    const { phase } = await state.migrations.require(session, ref.migration);
    const now = (await state.tables.list(session, ref.migration)).find((t) => t.number === table.number);
    if (phase !== "copying" || now === undefined) return false;
    if (now.phase === "pending") return true;
    if (now.generation !== table.generation) return false;
    await state.tables.startOver(session, ref.migration, table.number);
    await state.chunks.removeTable(session, ref.migration, table.number);
    await state.fence.bumpEpoch(session, ref.migration);
    return true;
  });
}

async function createPending(context: EngineContext, ref: MigrationRef, number: number, signal: AbortSignal): Promise<RestartOutcome> {
  for (let again = AGAIN; ; ) {
    const outcome = await createOnce(context, ref, number, signal);
    if (outcome instanceof DroverError) {
      // What stood in the way is gone, or is something that nobody sees.
      if (again-- === 0) throw outcome;
      continue;
    }
    if (typeof outcome === "string") return outcome;
    // As the source is now, the other one was altered too, and its turn to be created anew comes.
    if ("inTheWay" in outcome) await clearAway(context, ref, outcome.inTheWay, signal);
    // Of a source that lags, or has lost something, a definition that is read at once is as old.
    else await context.connections.use(outcome.source, "source", signal, (session) => waitUntilVisible(session, outcome.passed, signal));
  }
}

async function createOnce(context: EngineContext, ref: MigrationRef, number: number, signal: AbortSignal): Promise<RestartOutcome | DroverError | { inTheWay: MigrationTable } | { passed: string; source: string }> {
  const { connections, state, hooks } = context;
  return await withDdlLock(context, ref, signal, async (session) => {
    await keepBuildersOut(context, ref, number, session);
    const migration = await state.migrations.require(session, ref.migration);
    const tables = await state.tables.list(session, ref.migration);
    const table = tables.find((t) => t.number === number);
    if (migration.phase !== "copying" || table === undefined) return "not-due";
    if (table.phase !== "pending") return "restarted";
    const source = await presentTable(context, migration.spec.source, table.source, signal);
    if (source === null) return "missing";
    const isMariaDb = await connections.use(migration.spec.source, "source", signal, async (s) => {
      await ensureTargetSchema(s, session, table.source.schema, table.target.schema);
      return s.isMariaDb;
    });
    const problem = keyProblem(migration.spec, source.definition, table.where, isMariaDb);
    if (problem !== null) throw new DroverError("DDL_UNSUPPORTED", `the table cannot be followed: ${problem.message}`, { cure: "give it a primary key on the source, then resume" });
    await requireTargetPlace(context, migration.spec, [table], tables, signal);
    requireTransactions(source.definition, migration.spec.source, "now");
    const fresh: MigrationTable = { ...table, ...source, rowsEstimated: source.definition.rowsEstimated };
    await hooks.at("table:before-create", { migration: ref.migration, table: number });
    const created = await createTarget(context, ref, session, migration, fresh).catch(async (error: unknown) => {
      const inTheWay = await tableInTheWay(context, ref, migration.spec.source, error, fresh, tables, signal);
      if (inTheWay === null || !(error instanceof DroverError)) throw error;
      return inTheWay === "gone" ? error : { inTheWay };
    });
    if (created instanceof DroverError || "inTheWay" in created) return created;
    await hooks.at("table:after-create", { migration: ref.migration, table: number });
    if (await recordCreated(context, ref, session, { ...created, phase: "planning" })) return "restarted";
    // The fence has passed the position of this definition.
    const fence = await state.fence.require(session, ref.migration);
    return { passed: fence.position, source: migration.spec.source };
  });
}

/** Starts another table over and drops its target, so that this one can be created. */
async function clearAway(context: EngineContext, ref: MigrationRef, table: MigrationTable, signal: AbortSignal): Promise<void> {
  const { state } = context;
  // Not so where it has started over by itself meanwhile, or the migration is not copying any more: the next look tells.
  if (!(await startOver(context, ref, table, signal))) return;
  await endOldBuilds(context, ref, table, signal);
  await withDdlLock(context, ref, signal, async (session) => {
    await keepBuildersOut(context, ref, table.number, session);
    const now = await state.tables.read(session, ref.migration, table.number);
    if (now?.phase === "pending" && now.generation > 0) await session.run(sql`DROP TABLE IF EXISTS ${qualified(table.target.schema, table.target.table)}`);
  });
}

/** A table of an earlier generation is ours to drop; with one that joins it goes as `existingTarget` says. */
async function createTarget(context: EngineContext, ref: MigrationRef, session: Session, migration: Migration, table: MigrationTable): Promise<MigrationTable> {
  const { state } = context;
  let { generation } = table;
  if (generation === 0) {
    const overlay = (await isFilled(session, table.target)) && requireOverlay(table.target, migration.spec.options.existingTarget);
    if (overlay) return { ...table, deferredIndexes: [], overlay };
    // From here on the target's table is ours: recorded first, so that another attempt does not take it for a stranger.
    await state.tables.startOver(session, ref.migration, table.number);
    generation += 1;
  }
  return { ...table, generation, deferredIndexes: await recreateTarget(session, table, table.rowsEstimated >= SMALL_TABLE_ROWS), overlay: false };
}

async function isFilled(session: Session, target: TableName): Promise<boolean> {
  if ((await readTableDefinition(session, target.schema, target.table)) === null) return false;
  const [row] = await session.rows(sql`SELECT EXISTS(SELECT 1 FROM ${qualified(target.schema, target.table)} LIMIT 1) AS filled`);
  return row?.["filled"] === "1";
}

/** @throws DroverError PREFLIGHT_FAILED when rows that are there may not be touched */
function requireOverlay(target: TableName, existing: MigrationOptions["existingTarget"]): boolean {
  if (existing !== "fail") return existing === "resume";
  throw new DroverError("PREFLIGHT_FAILED", `a table joins the migration whose target ${target.schema}.${target.table} exists and is not empty`, {
    cure: "drop or rename it on the target, then resume",
  });
}

/** @returns false when the fence has passed the table's start position, so that events behind it may have been skipped: it must be read again */
async function recordCreated(context: EngineContext, ref: MigrationRef, session: Session, table: MigrationTable): Promise<boolean> {
  const { state } = context;
  await session.run("BEGIN" as ByteSql);
  const fence = await state.fence.require(session, ref.migration, "update");
  const now = await state.tables.read(session, ref.migration, table.number);
  const { phase } = await state.migrations.require(session, ref.migration);
  const valid = now?.phase === "pending" && now.generation === table.generation && phase === "copying" && positionCovers(table.startPosition, fence.position);
  if (valid) {
    await state.tables.put(session, ref.migration, table);
    if (!sameKey(now.definition, table.definition)) await new DiffState(state.schema).keyAltered(session, ref.migration, table.number);
    await state.fence.bumpEpoch(session, ref.migration);
  }
  await session.run((valid ? "COMMIT" : "ROLLBACK") as ByteSql);
  return valid;
}
