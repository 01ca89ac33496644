/** The diff commands of the queue `control`. */
import { controlJobs, parseJob } from "../../shared/contracts/jobs.js";
import { deleteDiff, resumeDiff, startDiff, stopDiff } from "../diff/index.js";
import type { ProcessorContext } from "./context.js";
import { ensureDiffJobs, startRepair } from "./diff-jobs.js";
import { putSchedule, removeSchedule, takeTurn } from "./diff-schedulers.js";

type Command = (context: ProcessorContext, data: unknown, signal: AbortSignal) => Promise<unknown>;

export type DiffCommandName = "diff-start" | "diff-stop" | "diff-resume" | "diff-delete" | "diff-repair" | "diff-schedule" | "diff-unschedule" | "diff-scheduled";

export const diffCommands: Record<DiffCommandName, Command> = {
  "diff-start": async (context, data, signal) => {
    const { diffId, options, ...ref } = parseJob(controlJobs, "diff-start", data);
    const known = await startDiff(context, ref, diffId, options, signal);
    await ensureDiffJobs(context, ref, diffId, signal);
    return { diffId, known };
  },
  "diff-stop": async (context, data, signal) => {
    const { diffId, ...ref } = parseJob(controlJobs, "diff-stop", data);
    await stopDiff(context, ref, diffId, signal);
    return { diffId };
  },
  "diff-resume": async (context, data, signal) => {
    const { diffId, ...ref } = parseJob(controlJobs, "diff-resume", data);
    await resumeDiff(context, ref, diffId, signal);
    await ensureDiffJobs(context, ref, diffId, signal);
    return { diffId };
  },
  "diff-delete": async (context, data, signal) => {
    const { diffId, ...ref } = parseJob(controlJobs, "diff-delete", data);
    await deleteDiff(context, ref, diffId, signal);
    return { diffId };
  },
  "diff-repair": async (context, data, signal) => {
    const { diffId, dryRun, ...ref } = parseJob(controlJobs, "diff-repair", data);
    return await startRepair(context, ref, diffId, dryRun, signal);
  },
  "diff-schedule": async (context, data, signal) => {
    const { migration, target, ...settings } = parseJob(controlJobs, "diff-schedule", data);
    await putSchedule(context, { migration, target }, settings, signal);
    return { name: settings.name };
  },
  "diff-unschedule": async (context, data, signal) => {
    const { name, ...ref } = parseJob(controlJobs, "diff-unschedule", data);
    await removeSchedule(context, ref, name, signal);
    return { name };
  },
  "diff-scheduled": async (context, data, signal) => {
    const { schedule, ...ref } = parseJob(controlJobs, "diff-scheduled", data);
    return await takeTurn(context, ref, schedule, signal);
  },
};
