/** The commands on diffs: each changes the state schema only; the jobs follow from it (`processors/diff-jobs.ts`). */
import { DroverError, errorRecord } from "../../shared/errors.js";
import type { DiffOptions, DiffState as State } from "../../shared/contracts/diff.js";
import type { Phase } from "../../shared/contracts/status.js";
import { DiffState } from "../../shared/state/diff-state.js";
import { readStateVersion } from "../../shared/state/schema.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { EngineContext, MigrationRef } from "../context.js";
import type { RepairReport } from "../../shared/state/diff-repair-report.js";
import { selectTables } from "./subject.js";

const DEADLOCK = 1213;

/** Before these are over the target is incomplete by design, and every row that was not copied yet would be a difference. */
const TOO_EARLY: readonly Phase[] = ["planning", "copying"];

/**
 * Records a new diff. The same id with the same options is the same diff: repeating it does nothing.
 * @returns its state, when it was there already; null for a new one
 * @throws DroverError NOT_FOUND (migration or table), WRONG_PHASE (the copy is not done; the migration was cut over), DIFF_CONFLICT
 */
export async function startDiff(context: EngineContext, ref: MigrationRef, diffId: string, options: DiffOptions, signal: AbortSignal, scheduled = false): Promise<State | null> {
  const state = new DiffState(context.state.schema);
  return await context.connections.use(ref.target, "target", signal, async (session) => {
    const known = await state.diffs.known(session, ref.migration, diffId, options);
    if (known !== null) return known;
    if (options.replica !== null) context.connections.address(options.replica);
    const migration = await context.state.migrations.require(session, ref.migration);
    if (TOO_EARLY.includes(migration.phase) || ((migration.phase === "paused" || migration.phase === "failed") && TOO_EARLY.includes(migration.resumePhase)))
      throw new DroverError("WRONG_PHASE", `migration ${ref.migration} is ${migration.phase}: there is nothing to compare before its copy is done`, { cure: earlyCure(migration) });
    await context.state.cutovers.requireComparable(session, ref.migration);
    const { unknown } = selectTables(await context.state.tables.list(session, ref.migration), options.tables);
    if (unknown.length > 0) throw new DroverError("NOT_FOUND", `migration ${ref.migration} has no table ${unknown.join(", ")}`, { cure: "name tables of the source as schema.table" });
    if (await state.diffs.create(session, ref.migration, diffId, options, scheduled)) return null;
    // Another worker was faster, with the same or with another one.
    return await state.diffs.known(session, ref.migration, diffId, options);
  });
}

/** Who waits for a copy that stands still waits for ever. */
function earlyCure({ id, phase }: Migration): string {
  const wait = `\`drover wait ${id} --for copied\``;
  if (phase === "paused") return `\`drover resume ${id}\` first, then ${wait}`;
  return phase === "failed" ? `remove the cause (\`drover status ${id}\`), then \`drover resume ${id}\` and ${wait}` : `${wait} first`;
}

/** Stops a diff, or the repair of one that has ended. Jobs under way notice it within a second; what they compared is not recorded. */
export async function stopDiff(context: EngineContext, ref: MigrationRef, diffId: string, signal: AbortSignal): Promise<void> {
  const state = new DiffState(context.state.schema);
  await context.connections.use(ref.target, "target", signal, async (session) => {
    if (await state.diffs.changeState(session, ref.migration, diffId, ["pending", "running"], "stopped")) return;
    const diff = await state.diffs.require(session, ref.migration, diffId);
    if (diff.repair !== null && (diff.repairState === "pending" || diff.repairState === "running")) {
      const report = JSON.parse(diff.repair) as RepairReport;
      await state.diffs.recordRepair(session, ref.migration, diffId, "failed", { ...report, state: "failed", error: errorRecord(new DroverError("ABORTED", "the repair was stopped")), completedAt: new Date().toISOString() });
      return;
    }
    if (diff.state !== "stopped") throw new DroverError("WRONG_PHASE", `diff ${diffId} is ${diff.state}: it cannot be stopped`, { cure: `\`drover diff show ${ref.migration} ${diffId}\` has its result` });
  });
}

/**
 * Takes up a stopped diff, or a failed one: what failed is tried again, what is recorded stays.
 * @throws DroverError NOT_FOUND, WRONG_PHASE (it is completed; the migration was cut over)
 */
export async function resumeDiff(context: EngineContext, ref: MigrationRef, diffId: string, signal: AbortSignal): Promise<void> {
  const state = new DiffState(context.state.schema);
  await context.connections.transaction(ref.target, "target", signal, async (session) => {
    const diff = await state.diffs.require(session, ref.migration, diffId);
    if (diff.state === "pending" || diff.state === "running") return;
    if (diff.state === "completed") throw new DroverError("WRONG_PHASE", `diff ${diffId} is completed`, { cure: "start a new one" });
    await context.state.cutovers.requireComparable(session, ref.migration);
    const begun = (await state.tables.list(session, ref.migration, diffId)).length > 0;
    await state.chunks.retryFailed(session, ref.migration, diffId);
    await state.diffs.resume(session, ref.migration, diffId, diff.options, begun ? "running" : "pending");
  });
}

export async function deleteDiff(context: EngineContext, ref: MigrationRef, diffId: string, signal: AbortSignal): Promise<void> {
  const state = new DiffState(context.state.schema);
  for (let attempt = 1; ; attempt++) {
    try {
      return await context.connections.transaction(ref.target, "target", signal, async (session) => {
        await state.diffs.require(session, ref.migration, diffId);
        await state.remove(session, ref.migration, diffId);
      });
    } catch (error) {
      // A chunk that is being recorded has its row and looks at the diff's: the two may meet.
      if (!(error instanceof DroverError) || error.errno !== DEADLOCK || attempt >= 5) throw error;
    }
  }
}

/**
 * Asks for the repair of a diff's confirmed differences.
 * @throws DroverError NOT_FOUND, WRONG_PHASE (the diff has not ended; the migration was cut over; a repair of the other kind is under way),
 * PREFLIGHT_FAILED (another migration has the tables by now)
 */
export async function requestRepair(context: EngineContext, ref: MigrationRef, diffId: string, dryRun: boolean, signal: AbortSignal): Promise<void> {
  const state = new DiffState(context.state.schema);
  await context.connections.use(ref.target, "target", signal, async (session) => {
    const diff = await state.diffs.require(session, ref.migration, diffId);
    if (diff.state !== "completed" && diff.state !== "failed" && diff.state !== "stopped")
      throw new DroverError("WRONG_PHASE", `diff ${diffId} is ${diff.state}: it can be repaired when it has ended`, { cure: "wait for it, or stop it" });
    if (!dryRun) {
      await context.state.cutovers.requireOurs(session, ref.migration);
      const differing = new Set((await state.chunks.different(session, ref.migration, diffId)).map((chunk) => chunk.table));
      const tables = (await context.state.tables.progress(session, ref.migration)).filter((table) => differing.has(table.number));
      await context.state.claims.requireFree(session, ref.migration, tables.map((table) => table.target));
    }
    if (diff.repairState === "pending" || diff.repairState === "running") {
      // Whoever asks again is answered with the one that is under way, but only looking is not the same as changing rows.
      const running = (JSON.parse(diff.repair ?? "{}") as Partial<RepairReport>).dryRun;
      if (running === dryRun) return;
      throw new DroverError("WRONG_PHASE", `a repair of diff ${diffId} is under way that ${running === true ? "only looks" : "changes rows"}`, { cure: "wait for its end, or stop it" });
    }
    const report: RepairReport = { id: ref.migration, diffId, dryRun, state: "pending", repaired: 0, equal: 0, inconclusive: 0, refused: 0, actions: [], actionsLeftOut: 0, error: null, startedAt: new Date().toISOString(), completedAt: null };
    await state.diffs.requestRepair(session, ref.migration, diffId, report);
  });
}

/** The diffs on a server that need work, of all migrations there. */
export async function unfinishedDiffs(context: EngineContext, target: string, signal: AbortSignal): Promise<{ migration: string; diffId: string }[]> {
  const state = new DiffState(context.state.schema);
  return await context.connections.use(target, "target", signal, async (session) => {
    if ((await readStateVersion(session, context.state.schema)) === null) return [];
    return (await state.diffs.unfinished(session)).map(({ migration, diff }) => ({ migration, diffId: diff }));
  });
}
