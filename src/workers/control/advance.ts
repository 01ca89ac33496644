/**
 * Moves one migration on and says which jobs it needs now. Called often, by many, at the same time: every step looks at
 * the state first and changes it by compare-and-set, so doing it twice does nothing.
 *
 *     planning ──prepared──▶ copying ──all tables copied──▶ catching-up ──position reached──▶ streaming
 *                               └─(mode copy)─▶ completed
 */
import { executedPosition, positionCovers } from "../../shared/mysql/position.js";
import type { Session } from "../../shared/mysql/session.js";
import type { ChunkTotals } from "../../shared/state/chunks.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { TableProgress } from "../../shared/state/tables.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { restartTable } from "../ddl/restart-table.js";
import { carryAfterCopy } from "../objects/carry-after-copy.js";
import { finishTables } from "../planner/finish-tables.js";
import { PLAN_AHEAD, planTable } from "../planner/plan-table.js";
import { prepareMigration } from "../planner/prepare.js";
import { SMALL_TABLE_ROWS } from "../planner/target-table.js";
import { copyPriority } from "./copy-priority.js";
import { requests, type JobRequest } from "./job-request.js";

/** Caught up means: what was committed on the source this many milliseconds ago is applied. */
const CATCH_UP_AGE = 5_000;
/** So many small tables are planned on the spot. */
const FEW_TABLES = 4;

export async function advanceMigration(context: EngineContext, ref: MigrationRef, signal: AbortSignal): Promise<JobRequest[]> {
  const { connections, state } = context;
  const read = () => connections.use(ref.target, "target", signal, (session) => state.migrations.read(session, ref.migration));
  let migration = await read();
  if (migration?.phase === "planning") {
    await prepareMigration(context, ref, migration, signal);
    migration = await read();
  }
  if (migration === null) return [];
  if (migration.phase === "copying") return await advanceCopy(context, ref, migration, signal);
  if (migration.phase === "catching-up") await detectStreaming(context, ref, migration, signal);
  return migration.phase === "catching-up" || migration.phase === "streaming" ? [requests.tail(ref), requests.apply(ref)] : [];
}

/**
 * The next chunk jobs, as many as may be outstanding at once: that is the limit `copyConcurrency`.
 * @param options.progressed a chunk was copied, which is recorded
 */
export async function chunkWindow(context: EngineContext, ref: MigrationRef, signal: AbortSignal, options: { progressed?: boolean } = {}): Promise<JobRequest[]> {
  const { connections, state } = context;
  return await connections.use(ref.target, "target", signal, async (session) => {
    if (options.progressed === true) await state.migrations.recordProgress(session, ref.migration);
    const migration = await state.migrations.read(session, ref.migration);
    const fence = await state.fence.read(session, ref.migration);
    if (migration?.phase !== "copying" || fence === null || fence.draining || fence.partial) return [];
    return await openWindow(context, session, ref, migration);
  });
}

async function openWindow(context: EngineContext, session: Session, ref: MigrationRef, migration: Migration): Promise<JobRequest[]> {
  const room = await context.state.beginners.room(session, ref.migration, migration.spec.options.copyConcurrency);
  const pending = room === 0 ? [] : await context.state.chunks.pending(session, ref.migration, room);
  return pending.map((chunk) => requests.chunk(ref, chunk.table, chunk.number, copyPriority(migration.spec, chunk.table, chunk.number)));
}

async function advanceCopy(context: EngineContext, ref: MigrationRef, migration: Migration, signal: AbortSignal): Promise<JobRequest[]> {
  const { connections, state } = context;
  const look = () => connections.use(ref.target, "target", signal, async (session) => ({
    tables: await state.tables.progress(session, ref.migration),
    totals: new Map((await state.chunks.totals(session, ref.migration)).map((t) => [t.table, t])),
    fence: await state.fence.require(session, ref.migration),
  }));
  let seen = await look();
  // Tables that start over, and were not created anew yet. One that is missing on the source waits for the tail to see why.
  const startOver = seen.tables.filter((table) => table.phase === "pending");
  for (const table of startOver) await restartTable(context, ref, table.number, signal);
  if (startOver.length > 0) seen = await look();
  const plannedHere = await planFewSmall(context, ref, seen.tables, signal);
  if (plannedHere) seen = await look();
  const { tables, totals, fence } = seen;
  // A tail that begins voids the chunks under way (`tail/beginning.ts`): where a few will be all, it comes after them, or with the next look.
  const jobs: JobRequest[] = migration.spec.mode === "copy" || plannedHere ? [] : [requests.tail(ref)];
  const tableJobs = new Map(tables.map((table) => [table, tableJob(ref, migration, table, totals.get(table.number))]));
  // While the backlog is drained the fence moves, and every chunk read would be void.
  if (fence.draining || fence.partial) return [...jobs, requests.apply(ref)];
  const ready = tables.filter((table) => tableJobs.get(table)?.name === "index" && table.phase === "copying" && !table.defersIndexes);
  const finished = await finishTables(context, ref, migration.spec.source, ready, signal);
  let open = 0;
  const needed = await connections.use(ref.target, "target", signal, async (session) => {
    for (const table of tables) {
      if (table.phase === "copied" || finished.has(table.number)) continue;
      open += 1;
      const job = tableJobs.get(table);
      if (job?.name === "index") await state.tables.setIndexing(session, ref.migration, table);
      if (job) jobs.push(job);
    }
    if (open > 0) return [...jobs, ...(await openWindow(context, session, ref, migration))];
    return jobs;
  });
  if (open > 0) return needed;
  await carryAfterCopy(context, ref, migration.spec, signal);
  return (await endCopy(context, ref, migration, signal)) && migration.spec.mode !== "copy" ? [requests.tail(ref), requests.apply(ref)] : needed;
}

/**
 * A migration of a few small tables needs no jobs to plan them: each would wait in the queue behind the chunks of larger ones, for work of some
 * milliseconds. What fails here is met, and told, by the table's own job. A table that starts over goes the ordinary way.
 * @returns whether all of them are planned now, so that the copy is about to begin
 */
async function planFewSmall(context: EngineContext, ref: MigrationRef, tables: readonly TableProgress[], signal: AbortSignal): Promise<boolean> {
  const begun = tables.filter((table) => table.phase === "planning" && !table.planned);
  if (begun.length === 0 || begun.length > FEW_TABLES || begun.some((table) => table.generation > 0 || table.rowsEstimated >= SMALL_TABLE_ROWS)) return false;
  try {
    for (const table of begun) await planTable(context, ref, table.number, signal, { portions: 1 });
    return true;
  } catch (error) {
    if (signal.aborted) throw error;
    context.log.debug({ migration: ref.migration, err: error }, "a small table could not be planned on the spot");
    return false;
  }
}

/** Under the fence's lock, which a table that starts over takes as well: either it is seen here, or it finds the copy ended. */
async function endCopy(context: EngineContext, ref: MigrationRef, migration: Migration, signal: AbortSignal): Promise<boolean> {
  const { connections, state } = context;
  return await connections.transaction(ref.target, "target", signal, async (session) => {
    await state.fence.require(session, ref.migration, "update");
    const tables = await state.tables.progress(session, ref.migration);
    if (tables.some((table) => table.phase !== "copied")) return false;
    return await state.migrations.changePhase(session, ref.migration, ["copying"], migration.spec.mode === "copy" ? "completed" : "catching-up");
  });
}

/** What a table needs beside its chunk jobs: to be planned further, or its indexes. */
function tableJob(ref: MigrationRef, migration: Migration, table: TableProgress, totals: ChunkTotals | undefined): JobRequest | null {
  if (table.phase === "copied" || table.phase === "pending") return null;
  const waiting = (totals?.total ?? 0) - (totals?.done ?? 0);
  const priority = copyPriority(migration.spec, table.number, (totals?.done ?? 0) + 1);
  if (!table.planned) return waiting < PLAN_AHEAD / 2 ? requests.plan(ref, table.number, priority) : null;
  return waiting === 0 ? requests.index(ref, table.number, priority) : null;
}

/** Streaming begins when a position that the source had a moment ago is applied; under constant writes the newest never is. */
async function detectStreaming(context: EngineContext, ref: MigrationRef, migration: Migration, signal: AbortSignal): Promise<void> {
  const { connections, state } = context;
  const now = await connections.use(migration.spec.source, "source", signal, executedPosition);
  await connections.use(ref.target, "target", signal, async (session) => {
    const fence = await state.fence.require(session, ref.migration);
    const mark = migration.catchUp;
    const reached = positionCovers(fence.position, now) || (mark !== null && positionCovers(fence.position, mark.position) && mark.age < CATCH_UP_AGE);
    if (reached) await state.migrations.changePhase(session, ref.migration, ["catching-up"], "streaming");
    else if (mark === null || mark.age >= CATCH_UP_AGE) await state.migrations.setCatchUp(session, ref.migration, now);
  });
}
