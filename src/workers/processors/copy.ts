/** Queue `copy`: plan, chunk and index jobs. Each one opens the window for the next before it ends. */
import type { Job } from "bullmq";
import { copyJobs, parseJob } from "../../shared/contracts/jobs.js";
import { DroverError } from "../../shared/errors.js";
import type { MigrationRef } from "../context.js";
import { chunkWindow } from "../control/advance.js";
import { requests } from "../control/job-request.js";
import { ChunkCopier } from "../copy/chunk-copier.js";
import { restartTable } from "../ddl/restart-table.js";
import { buildIndexes } from "../planner/build-indexes.js";
import { planTable } from "../planner/plan-table.js";
import type { ProcessorContext } from "./context.js";
import { ensureJobs } from "./ensure-jobs.js";
import { guarded, type JobFunction } from "./outcome.js";

/** A chunk that the server refuses this often without success is poison. */
const MAX_CHUNK_ATTEMPTS = 20;
/** Every so many chunks the migration is looked at as a whole: tables to plan further, indexes to build. */
const ADVANCE_STRIDE = 16;

export function createCopyProcessor(context: ProcessorContext): JobFunction {
  const copier = new ChunkCopier(context);

  const chunkJob = async (data: unknown, signal: AbortSignal) => {
    const { table, chunk, ...ref } = parseJob(copyJobs, "chunk", data);
    try {
      const outcome = await copier.copy(ref, table, chunk, signal);
      const window = await chunkWindow(context, ref, signal, { progressed: outcome.kind === "copied" });
      // This job's own id is still taken; of a chunk that was not copied the next look takes care.
      await ensureJobs(context, window);
      if (window.length <= 1 || chunk % ADVANCE_STRIDE === 0) await ensureJobs(context, [requests.advance(ref)]);
      return outcome;
    } catch (error) {
      throw await judgeChunkError(ref, table, chunk, error, signal);
    }
  };

  /** A changed table starts over as a whole, a refusing server is counted; anything else is as `outcome.ts` says. */
  const judgeChunkError = async (ref: MigrationRef, table: number, chunk: number, error: unknown, signal: AbortSignal): Promise<unknown> => {
    if (!(error instanceof DroverError)) return error;
    if (error.code === "TABLE_CHANGED") return await startOver(ref, table, error, signal);
    // Waiting for somebody else's lock (1205) says nothing of the chunk.
    if (error.code !== "SERVER_BUSY" || error.errno === 1205) return error;
    const attempts = await context.connections.use(ref.target, "target", signal, (session) => context.state.chunks.countAttempt(session, ref.migration, table, chunk));
    if (attempts < MAX_CHUNK_ATTEMPTS) return error;
    return new DroverError("POISON", `chunk ${chunk} of table ${table} failed ${attempts} times: ${error.message}`, { errno: error.errno, sqlState: error.sqlState });
  };

  const startOver = async (ref: MigrationRef, table: number, error: unknown, signal: AbortSignal): Promise<unknown> => {
    await restartTable(context, ref, table, signal);
    await ensureJobs(context, [requests.advance(ref)]);
    return error;
  };

  const run = async (job: Job, signal: AbortSignal): Promise<unknown> => {
    if (job.name === "chunk") return await chunkJob(job.data, signal);
    if (job.name === "plan") {
      const { table, ...ref } = parseJob(copyJobs, "plan", job.data);
      const planned = await planTable(context, ref, table, signal).catch(async (error: unknown) => {
        throw error instanceof DroverError && error.code === "TABLE_CHANGED" ? await startOver(ref, table, error, signal) : error;
      });
      await ensureJobs(context, [...(await chunkWindow(context, ref, signal)), requests.advance(ref)]);
      return { planned };
    }
    if (job.name === "index") {
      const { table, ...ref } = parseJob(copyJobs, "index", job.data);
      await buildIndexes(context, ref, table, signal);
      await ensureJobs(context, [requests.advance(ref)]);
      return {};
    }
    throw new DroverError("SPEC_INVALID", `the queue copy has no job "${job.name}"`);
  };

  return guarded(context, refOf, run);
}

function refOf(job: Job): MigrationRef | null {
  const data = job.data as Partial<MigrationRef>;
  return typeof data.migration === "string" && typeof data.target === "string" ? { migration: data.migration, target: data.target } : null;
}
