/** Queue `control`: the commands of people and services, and the reconciler's turns. */
import type { Job } from "bullmq";
import { controlJobs, parseJob, type ControlJobName } from "../../shared/contracts/jobs.js";
import { DroverError, errorRecord } from "../../shared/errors.js";
import type { MigrationRef } from "../context.js";
import { advanceMigration } from "../control/advance.js";
import { pauseMigration, removeMigration, resumeMigration, startMigration, stopMigration } from "../control/commands.js";
import { requests } from "../control/job-request.js";
import { chainOf, type ProcessorContext } from "./context.js";
import { cutoverCommands } from "./cutover-commands.js";
import { diffCommands, type DiffCommandName } from "./diff-commands.js";
import { ensureJobs, removeFailedJobs } from "./ensure-jobs.js";
import { asDroverError, guarded, type JobFunction } from "./outcome.js";
import { reconcile } from "./reconcile.js";

/**
 * A command that failed is tried again for so long after it was sent (milliseconds): whoever sent it has given up by then, and it must not be carried out hours later, when the server is
 * back and things have changed. What only says what is to be, and the reconciler's own jobs, go on.
 */
const COMMAND_PATIENCE = 120_000;
const LASTING: ReadonlySet<string> = new Set<ControlJobName>(["start", "diff-schedule", "diff-unschedule", "diff-scheduled", "cutover-advance", "advance", "reconcile"]);

export function createControlProcessor(context: ProcessorContext): JobFunction {
  /** An error of planning belongs to the migration, not to the job: the next turn of the reconciler tries again. */
  const advance = async (ref: MigrationRef, signal: AbortSignal) => {
    try {
      await ensureJobs(context, await advanceMigration(context, ref, signal), { replaceEnded: true });
    } catch (thrown) {
      const error = asDroverError(thrown, signal);
      if (error.kind === "aborted") throw error;
      // Removed meanwhile.
      if (error.code === "NOT_FOUND") return {};
      context.log.warn({ migration: ref.migration, code: error.code, errno: error.errno, message: error.message, ...(error.code === "BUG" ? { err: error.cause ?? error } : {}) }, "the migration could not be moved on");
      // CONFIG_INVALID: this worker lacks a connection, others may have it.
      if (error.kind === "retryable" || error.code === "CONFIG_INVALID") context.errors.record(ref, error);
      else await context.errors.fail(ref, error);
      return errorRecord(error);
    }
    return {};
  };

  const commands: Partial<Record<ControlJobName, (data: unknown, signal: AbortSignal) => Promise<unknown>>> = {
    start: async (data, signal) => {
      // The spec is recorded as it was written, so that defaults of a later version do not change it.
      parseJob(controlJobs, "start", data);
      const { ref, known } = await startMigration(context, (data as { spec: unknown }).spec, signal);
      await ensureJobs(context, [requests.advance(ref)]);
      return { id: ref.migration, known };
    },
    pause: async (data, signal) => ({ phase: await pauseMigration(context, parseJob(controlJobs, "pause", data), signal) }),
    resume: async (data, signal) => {
      const ref = parseJob(controlJobs, "resume", data);
      const phase = await resumeMigration(context, ref, signal);
      await removeFailedJobs(context, ref.migration);
      await ensureJobs(context, [requests.advance(ref)]);
      return { phase };
    },
    stop: async (data, signal) => {
      const ref = parseJob(controlJobs, "stop", data);
      return { phase: await stopMigration(context, ref, chainOf(context, ref), signal) };
    },
    remove: async (data, signal) => {
      const ref = parseJob(controlJobs, "remove", data);
      await removeMigration(context, ref, chainOf(context, ref), signal);
      await removeFailedJobs(context, ref.migration);
      return {};
    },
    ...cutoverCommands(context),
    advance: (data, signal) => advance(parseJob(controlJobs, "advance", data), signal),
    reconcile: (_data, signal) => reconcile(context, signal),
  };

  // A command's own error goes back to whoever sent it; it is no error of the migration.
  return guarded(context, () => null, async (job: Job, signal) => {
    const command = commands[job.name as ControlJobName];
    if (command) return await command(job.data, signal);
    const diffCommand = diffCommands[job.name as DiffCommandName];
    if (diffCommand) return await diffCommand(context, job.data, signal);
    throw new DroverError("SPEC_INVALID", `the queue control has no command "${job.name}"`, { cure: `known are ${Object.keys(controlJobs).join(", ")}` });
  }, (job) => (LASTING.has(job.name) ? Infinity : COMMAND_PATIENCE));
}
