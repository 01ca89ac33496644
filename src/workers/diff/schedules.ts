/**
 * Diffs that are started again and again. A schedule is a row of the state schema; BullMQ's job scheduler rings for it. The
 * reconciler makes job schedulers again that Redis has lost, and a ring without a schedule ends its scheduler.
 */
import type { Queue } from "bullmq";
import { DroverError } from "../../shared/errors.js";
import { DiffScheduleStore, type ScheduleSettings, type StoredSchedule } from "../../shared/state/diff-schedules.js";
import { isReleased } from "../../shared/state/cutovers.js";
import { DiffState } from "../../shared/state/diff-state.js";
import { readStateVersion } from "../../shared/state/schema.js";
import type { EngineContext, MigrationRef } from "../context.js";
import type { ProcessorContext } from "../processors/context.js";
import { deleteDiff, startDiff } from "./commands.js";
import { selectTables } from "./subject.js";

type Context = Pick<ProcessorContext, "connections" | "state" | "queues" | "config" | "log" | "worker" | "hooks">;

/** A turn that comes after less than this part of the interval is one too many: the scheduler was made anew. */
const TOO_SOON = 0.5;

/** Records a schedule, in the place of one of the same name, and makes its job scheduler. */
export async function putSchedule(context: Context, ref: MigrationRef, settings: ScheduleSettings, signal: AbortSignal): Promise<void> {
  const schedules = new DiffScheduleStore(context.state.schema);
  const { replica } = settings.options;
  if (replica !== null) context.connections.address(replica);
  const stored = await context.connections.use(ref.target, "target", signal, async (session) => {
    await context.state.migrations.require(session, ref.migration);
    const { unknown } = selectTables(await context.state.tables.list(session, ref.migration), settings.options.tables);
    if (unknown.length > 0) throw new DroverError("NOT_FOUND", `migration ${ref.migration} has no table ${unknown.join(", ")}`, { cure: "name tables of the source as schema.table" });
    await schedules.put(session, ref.migration, ref.target, settings);
    return await schedules.read(session, ref.migration, settings.name);
  });
  if (stored !== null) await ensureScheduler(context.queues.control, stored);
}

/** @throws DroverError NOT_FOUND */
export async function removeSchedule(context: Context, ref: MigrationRef, name: string, signal: AbortSignal): Promise<void> {
  const removed = await context.connections.use(ref.target, "target", signal, (session) => new DiffScheduleStore(context.state.schema).remove(session, ref.migration, name));
  await context.queues.control.removeJobScheduler(schedulerId(ref.migration, name));
  if (!removed) throw new DroverError("NOT_FOUND", `migration ${ref.migration} has no schedule "${name}"`, { cure: "`drover diff schedules` names them" });
}

/**
 * A turn of a schedule: starts a diff, unless the one before is still at work, and deletes finished ones beyond the newest `keep`.
 * @returns its id, or why none was started
 */
export async function startScheduledDiff(context: EngineContext & { queues: Context["queues"] }, ref: MigrationRef, name: string, signal: AbortSignal): Promise<{ diffId: string } | { skipped: string }> {
  const state = new DiffState(context.state.schema);
  const schedules = new DiffScheduleStore(context.state.schema);
  const { schedule, before, cutover } = await context.connections.use(ref.target, "target", signal, async (session) => {
    const found = await schedules.read(session, ref.migration, name);
    return { schedule: found, before: found?.lastDiffId == null ? null : await state.diffs.read(session, ref.migration, found.lastDiffId), cutover: await context.state.cutovers.read(session, ref.migration) };
  });
  if (schedule === null) {
    await context.queues.control.removeJobScheduler(schedulerId(ref.migration, name));
    return { skipped: "there is no such schedule any more" };
  }
  // What the application changes on the target would be differences, found on an old source that is read for nothing.
  if (cutover !== null && isReleased(cutover)) return { skipped: "the migration was cut over" };
  if (before !== null && (before.state === "pending" || before.state === "running")) return { skipped: `diff ${before.id} is still at work` };
  const isRecent = schedule.lastStartedAt !== null && schedule.age < schedule.every * TOO_SOON;
  if (isRecent && before !== null) return { skipped: "the latest turn was only now" };
  // Recorded, but not made: an error came in between, and this is the same turn again.
  const unmade = isRecent ? schedule.lastDiffId : null;
  const diffId = unmade ?? `${name}-${new Date().toISOString().replace(/\D/g, "").slice(0, 14)}`;
  const mine = unmade !== null || (await context.connections.use(ref.target, "target", signal, (session) => schedules.recordTurn(session, schedule, diffId)));
  if (!mine) return { skipped: "another worker had this turn" };
  await context.hooks.at("diff:before-turn", { migration: ref.migration, diff: diffId });
  try {
    await startDiff(context, ref, diffId, schedule.options, signal, true);
  } catch (error) {
    // The copy is not done, say: the next turn may find it so.
    if (error instanceof DroverError && error.code === "WRONG_PHASE") return { skipped: error.message };
    throw error;
  }
  const outdated = await context.connections.use(ref.target, "target", signal, (session) => state.diffs.outdated(session, ref.migration, name, schedule.keep));
  for (const old of outdated) await deleteDiff(context, ref, old, signal).catch(ignoreGone);
  return { diffId };
}

/** Makes the job schedulers that are missing; one that a server does not tell of now comes in a later turn. */
export async function ensureSchedulers(context: Context, signal: AbortSignal): Promise<void> {
  for (const name of context.config.connections.keys()) {
    try {
      const schedules = await context.connections.use(name, "target", signal, async (session) =>
        (await readStateVersion(session, context.state.schema)) === null ? [] : await new DiffScheduleStore(context.state.schema).all(session),
      );
      // A server may be known under two names: only the one that the spec calls its target counts.
      for (const schedule of schedules) if (schedule.target.toUpperCase() === name.toUpperCase()) await ensureScheduler(context.queues.control, schedule);
    } catch (error) {
      if (signal.aborted) throw error;
      context.log.debug({ target: name, err: error }, "the schedules of diffs cannot be read now");
    }
  }
}

async function ensureScheduler(queue: Queue, schedule: StoredSchedule): Promise<void> {
  const { migration, target, name, every, lastAt } = schedule;
  const id = schedulerId(migration, name);
  const known = await queue.getJobScheduler(id);
  if (known?.every === every) return;
  // Anew the scheduler would ring at once; it goes on where the latest turn left it.
  const startDate = schedule.lastStartedAt === null ? undefined : Math.max(Date.now(), lastAt + every);
  await queue.upsertJobScheduler(id, { every, ...(startDate === undefined ? {} : { startDate }) }, { name: "diff-scheduled", data: { migration, target, schedule: name } });
}

/** Somebody else deleted it. */
function ignoreGone(error: unknown): void {
  if (!(error instanceof DroverError) || error.code !== "NOT_FOUND") throw error;
}

function schedulerId(migration: string, name: string): string {
  return `diff-schedule.${migration}.${name}`;
}
