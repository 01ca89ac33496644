/** The diff commands of the queue `control`. */
import { controlJobs, parseJob } from "../../shared/contracts/jobs.js";
import { deleteDiff, ensureDiffJobs, resumeDiff, startDiff, startRepair, startScheduledDiff, stopDiff } from "../diff/index.js";
import type { ProcessorContext } from "./context.js";

type Command = (context: ProcessorContext, data: unknown, signal: AbortSignal) => Promise<unknown>;

export type DiffCommandName = "diff-start" | "diff-stop" | "diff-resume" | "diff-delete" | "diff-repair" | "diff-scheduled";

export const diffCommands: Record<DiffCommandName, Command> = {
  "diff-start": async (context, data, signal) => {
    const { diffId, options, ...ref } = parseJob(controlJobs, "diff-start", data);
    await startDiff(context, ref, diffId, options, signal);
    await ensureDiffJobs(context, ref, diffId, signal);
    return { diffId };
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
  "diff-scheduled": async (context, data, signal) => {
    const { options, keep, ...ref } = parseJob(controlJobs, "diff-scheduled", data);
    const diffId = await startScheduledDiff(context, ref, options, keep, signal);
    await ensureDiffJobs(context, ref, diffId, signal);
    return { diffId };
  },
};
