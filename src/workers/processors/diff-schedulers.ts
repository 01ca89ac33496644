/**
 * BullMQ's job schedulers, which ring for the schedules of diffs. The reconciler makes those again that Redis has lost, and a
 * ring without a schedule ends its scheduler.
 */
import type { Queue } from "bullmq";
import { DroverError } from "../../shared/errors.js";
import type { ScheduleSettings, StoredSchedule } from "../../shared/state/diff-schedules.js";
import type { MigrationRef } from "../context.js";
import { forgetSchedule, listSchedules, recordSchedule, startScheduledDiff, type ScheduledTurn } from "../diff/index.js";
import type { ProcessorContext } from "./context.js";
import { ensureDiffJobs } from "./diff-jobs.js";

/** Records a schedule and makes its job scheduler. */
export async function putSchedule(context: ProcessorContext, ref: MigrationRef, settings: ScheduleSettings, signal: AbortSignal): Promise<void> {
  const stored = await recordSchedule(context, ref, settings, signal);
  if (stored !== null) await ensureScheduler(context.queues.control, stored);
}

/** @throws DroverError NOT_FOUND */
export async function removeSchedule(context: ProcessorContext, ref: MigrationRef, name: string, signal: AbortSignal): Promise<void> {
  const removed = await forgetSchedule(context, ref, name, signal);
  await context.queues.control.removeJobScheduler(schedulerId(ref.migration, name));
  if (!removed) throw new DroverError("NOT_FOUND", `migration ${ref.migration} has no schedule "${name}"`, { cure: "`drover diff schedules` names them" });
}

/** It has rung. */
export async function takeTurn(context: ProcessorContext, ref: MigrationRef, name: string, signal: AbortSignal): Promise<ScheduledTurn> {
  const turn = await startScheduledDiff(context, ref, name, signal);
  if (turn.kind === "started") await ensureDiffJobs(context, ref, turn.diffId, signal);
  if (turn.kind === "gone") await context.queues.control.removeJobScheduler(schedulerId(ref.migration, name));
  if (turn.kind === "skipped") context.log.info({ migration: ref.migration, schedule: name, reason: turn.reason }, "a scheduled diff was not started");
  return turn;
}

/** Makes the job schedulers that are missing; one that a server does not tell of now comes in a later turn. */
export async function ensureSchedulers(context: ProcessorContext, signal: AbortSignal): Promise<void> {
  for (const name of context.config.connections.keys()) {
    try {
      for (const schedule of await listSchedules(context, name, signal)) await ensureScheduler(context.queues.control, schedule);
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

function schedulerId(migration: string, name: string): string {
  return `diff-schedule.${migration}.${name}`;
}
