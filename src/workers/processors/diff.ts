/** Queue `diff`: prepare, chunk and repair jobs. Each one opens the window for the next before it ends. */
import type { Job } from "bullmq";
import { diffJobs, parseJob } from "../../shared/contracts/jobs.js";
import { DroverError } from "../../shared/errors.js";
import { codedError } from "../coded-error.js";
import { DiffEngine } from "../diff/engine.js";
import type { DiffTuning } from "../diff/tuning.js";
import type { ProcessorContext } from "./context.js";
import { ensureDiffJobs, nextDiffJobs } from "./diff-jobs.js";
import { ComeAgain, guarded, type JobFunction } from "./outcome.js";

/**
 * How many diff jobs a process may hold per slot: with more than one, some may wait for the fence while others work. Not many
 * more, for a job that waits for its slot here is one that another worker could have.
 */
export const DIFF_JOBS_PER_SLOT = 2;

export interface DiffProcessorOptions {
  /** Chunks that keep the servers busy at once; default 2. Give the queue's worker `DIFF_JOBS_PER_SLOT` times as many jobs. */
  slots?: number;
  tuning?: DiffTuning;
}

export function createDiffProcessor(context: ProcessorContext, options: DiffProcessorOptions = {}): JobFunction {
  const engine = new DiffEngine(context, { ending: context.shutdown, ...options });

  const run = async (job: Job, signal: AbortSignal): Promise<unknown> => {
    if (job.name === "chunk") {
      const { diffId, table, chunk, ...ref } = parseJob(diffJobs, "chunk", job.data);
      const done = await engine.slots.busy(() => attempt(signal, (error) => engine.recordError(ref, diffId, error), () => engine.chunk(ref, diffId, table, chunk, signal)));
      await nextDiffJobs(context, ref, diffId, signal);
      return done;
    }
    if (job.name === "prepare") {
      const { diffId, ...ref } = parseJob(diffJobs, "prepare", job.data);
      const done = await attempt(signal, (error) => engine.recordPlanFailure(ref, diffId, error), () => engine.prepare(ref, diffId, signal, () => ensureDiffJobs(context, ref, diffId, signal)));
      await ensureDiffJobs(context, ref, diffId, signal);
      return done;
    }
    if (job.name === "repair") {
      const { diffId, dryRun: _, ...ref } = parseJob(diffJobs, "repair", job.data);
      return await engine.slots.busy(() => attempt(signal, (error) => engine.recordRepairFailure(ref, diffId, error), () => engine.repair(ref, diffId, signal)));
    }
    throw new DroverError("SPEC_INVALID", `the queue diff has no job "${job.name}"`);
  };

  /** Runs a work item; its error is recorded with the diff, and the item is tried again as long as the state says that it is due. */
  const attempt = async (signal: AbortSignal, record: (error: DroverError) => Promise<void>, work: () => Promise<unknown>): Promise<unknown> => {
    try {
      return await work();
    } catch (thrown) {
      // The diff was stopped or deleted, or its time is over: that is no error of the item.
      if (thrown instanceof DroverError && thrown.kind === "aborted" && !signal.aborted) return "ended";
      if (signal.aborted) throw thrown;
      const error = codedError(thrown);
      if (error.code === "NOT_FOUND") return "gone";
      if (error.kind === "bug") context.log.error({ err: error.cause ?? error }, "a defect in the diff");
      await record(error);
      // Also what no retry heals: the next turn finds the item failed in the state schema, and ends.
      throw new ComeAgain(error);
    }
  };

  return guarded(context, () => null, run);
}
