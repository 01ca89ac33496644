/** The cut-over's commands of the queue `control`, and its turns. */
import { controlJobs, parseJob } from "../../shared/contracts/jobs.js";
import { requests } from "../control/job-request.js";
import { advanceCutover } from "../cutover/advance.js";
import { abortCutover, requestCutover } from "../cutover/commands.js";
import { chainOf, type ProcessorContext } from "./context.js";
import { ensureDiffJobs } from "./diff-jobs.js";
import { ensureJobs } from "./ensure-jobs.js";
import { NextLease } from "./outcome.js";

/** One turn, in milliseconds; the next one follows at once, on whichever worker is free. */
const LEASE = 20_000;

type Command = (data: unknown, signal: AbortSignal) => Promise<unknown>;

export function cutoverCommands(context: ProcessorContext): Record<"cutover" | "cutover-abort" | "cutover-advance", Command> {
  return {
    cutover: async (data, signal) => {
      const { options, dryRun, ...ref } = parseJob(controlJobs, "cutover", data);
      const report = await requestCutover(context, ref, options, dryRun, signal);
      if (report.state === "running") await ensureJobs(context, [requests.cutover(ref)]);
      return report;
    },
    "cutover-abort": async (data, signal) => {
      const ref = parseJob(controlJobs, "cutover-abort", data);
      await abortCutover(context, ref, signal);
      await ensureJobs(context, [requests.cutover(ref)]);
      return {};
    },
    "cutover-advance": async (data, signal) => {
      const ref = parseJob(controlJobs, "cutover-advance", data);
      const run = { chain: chainOf(context, ref), ensureDiff: (diffId: string) => ensureDiffJobs(context, ref, diffId, signal), lease: LEASE };
      if ((await advanceCutover(context, ref, run, signal)) === "again") throw new NextLease();
      return {};
    },
  };
}
