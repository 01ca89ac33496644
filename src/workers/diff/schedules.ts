/**
 * Diffs that are started again and again: a schedule is a row of the state schema. What rings for it, and what a turn then
 * does to the queues, is in `processors/diff-schedulers.ts`.
 */
import { DroverError } from "../../shared/errors.js";
import { DiffScheduleStore, type ScheduleSettings, type StoredSchedule } from "../../shared/state/diff-schedules.js";
import { isReleased } from "../../shared/state/cutovers.js";
import { DiffState } from "../../shared/state/diff-state.js";
import { readStateVersion } from "../../shared/state/schema.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { deleteDiff, startDiff } from "./commands.js";
import { selectTables } from "./subject.js";

/** A turn that comes after less than this part of the interval is one too many: the scheduler was made anew. */
const TOO_SOON = 0.5;

/** What a turn came to: the diff that was started, or why none was; `gone` when there is no such schedule any more. */
export type ScheduledTurn = { kind: "started"; diffId: string } | { kind: "skipped"; reason: string } | { kind: "gone" };

/** Records a schedule, in the place of one of the same name. @returns it, or null when it was removed meanwhile */
export async function recordSchedule(context: EngineContext, ref: MigrationRef, settings: ScheduleSettings, signal: AbortSignal): Promise<StoredSchedule | null> {
  const schedules = new DiffScheduleStore(context.state.schema);
  const { replica } = settings.options;
  if (replica !== null) context.connections.address(replica);
  return await context.connections.use(ref.target, "target", signal, async (session) => {
    await context.state.migrations.require(session, ref.migration);
    const { unknown } = selectTables(await context.state.tables.list(session, ref.migration), settings.options.tables);
    if (unknown.length > 0) throw new DroverError("NOT_FOUND", `migration ${ref.migration} has no table ${unknown.join(", ")}`, { cure: "name tables of the source as schema.table" });
    await schedules.put(session, ref.migration, ref.target, settings);
    return await schedules.read(session, ref.migration, settings.name);
  });
}

/** @returns whether there was one */
export async function forgetSchedule(context: EngineContext, ref: MigrationRef, name: string, signal: AbortSignal): Promise<boolean> {
  return await context.connections.use(ref.target, "target", signal, (session) => new DiffScheduleStore(context.state.schema).remove(session, ref.migration, name));
}

/** The schedules in a server's state schema. A server may be known under two names: only those whose spec calls it so. */
export async function listSchedules(context: EngineContext, target: string, signal: AbortSignal): Promise<StoredSchedule[]> {
  const schedules = await context.connections.use(target, "target", signal, async (session) =>
    (await readStateVersion(session, context.state.schema)) === null ? [] : await new DiffScheduleStore(context.state.schema).all(session),
  );
  return schedules.filter((schedule) => schedule.target.toUpperCase() === target.toUpperCase());
}

/**
 * A turn of a schedule: starts a diff, unless the one before is still at work, and deletes finished ones beyond the newest `keep`.
 * Repeating it after an error makes the diff that was recorded for the turn.
 */
export async function startScheduledDiff(context: EngineContext, ref: MigrationRef, name: string, signal: AbortSignal): Promise<ScheduledTurn> {
  const state = new DiffState(context.state.schema);
  const schedules = new DiffScheduleStore(context.state.schema);
  const { schedule, before, cutover } = await context.connections.use(ref.target, "target", signal, async (session) => {
    const found = await schedules.read(session, ref.migration, name);
    return { schedule: found, before: found?.lastDiffId == null ? null : await state.diffs.read(session, ref.migration, found.lastDiffId), cutover: await context.state.cutovers.read(session, ref.migration) };
  });
  if (schedule === null) return { kind: "gone" };
  // What the application changes on the target would be differences, found on an old source that is read for nothing.
  if (cutover !== null && isReleased(cutover)) return { kind: "skipped", reason: "the migration was cut over" };
  if (before !== null && (before.state === "pending" || before.state === "running")) return { kind: "skipped", reason: `diff ${before.id} is still at work` };
  const tooSoon = schedule.lastStartedAt !== null && schedule.age < schedule.every * TOO_SOON;
  // Recorded, and its diff never made: an error came between.
  const owed = tooSoon && before === null ? schedule.lastDiffId : null;
  if (tooSoon && owed === null) return { kind: "skipped", reason: "the latest turn was only now" };
  const diffId = owed ?? `${name}-${new Date().toISOString().replace(/\D/g, "").slice(0, 14)}`;
  if (owed === null) {
    const mine = await context.connections.use(ref.target, "target", signal, (session) => schedules.recordTurn(session, schedule, diffId));
    if (!mine) return { kind: "skipped", reason: "another worker had this turn" };
  }
  await context.hooks.at("diff:before-turn", { migration: ref.migration, diff: diffId });
  try {
    await startDiff(context, ref, diffId, schedule.options, signal, true);
  } catch (error) {
    // The copy is not done, say: the next turn may find it so.
    if (error instanceof DroverError && error.code === "WRONG_PHASE") return { kind: "skipped", reason: error.message };
    throw error;
  }
  const outdated = await context.connections.use(ref.target, "target", signal, (session) => state.diffs.outdated(session, ref.migration, name, schedule.keep));
  for (const id of outdated) await deleteDiff(context, ref, id, signal).catch(ignoreGone);
  return { kind: "started", diffId };
}

/** Somebody else deleted it. */
function ignoreGone(error: unknown): void {
  if (!(error instanceof DroverError) || error.code !== "NOT_FOUND") throw error;
}
