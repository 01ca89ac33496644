/** The jobs that a diff needs in the queue `diff`. All of them can be made again from the state schema (promise 3). */
import type { Queue } from "bullmq";
import { jobIds } from "../../shared/queues.js";
import { DiffState } from "../../shared/state/diff-state.js";
import type { MigrationRef } from "../context.js";
import { requestRepair } from "../diff/commands.js";
import { finishDiff } from "../diff/finish.js";
import { DEFAULT_TUNING } from "../diff/tuning.js";
import type { ProcessorContext } from "./context.js";
import { freeEndedIds } from "./ensure-jobs.js";

interface DiffJob {
  name: "prepare" | "chunk" | "repair";
  data: Record<string, string | number>;
  opts: { jobId: string; lifo?: boolean };
}

/** The window is filled up again when fewer jobs than this wait in the queue: so that not every chunk has to look. */
const LOW_WATER = 12;

type Context = Pick<ProcessorContext, "connections" | "state" | "queues" | "config" | "log" | "worker" | "hooks">;

/**
 * Puts the jobs that an unfinished diff needs into the queue, or ends a diff that needs none. Safe to repeat: jobs that are
 * there stay, and a job of the same id that ended is replaced.
 */
export async function ensureDiffJobs(context: Context, ref: MigrationRef, diffId: string, signal: AbortSignal): Promise<void> {
  await put(context.queues.diff, await neededJobs(context, ref, diffId, signal), true);
}

/** Opens the window for the next chunks, after one of them was finished, when few are left in it. */
export async function nextDiffJobs(context: Context, ref: MigrationRef, diffId: string, signal: AbortSignal): Promise<void> {
  const queue = context.queues.diff;
  const [waiting, first] = await Promise.all([queue.getWaitingCount(), queue.getWaiting(0, 0)]);
  // Other diffs' jobs say nothing about this one.
  const head = first[0]?.data as Partial<MigrationRef & { diffId: string }> | undefined;
  if (waiting >= LOW_WATER && head?.diffId === diffId && head.migration === ref.migration) return;
  await put(queue, await neededJobs(context, ref, diffId, signal), false);
}

async function neededJobs(context: Context, ref: MigrationRef, diffId: string, signal: AbortSignal): Promise<DiffJob[]> {
  const state = new DiffState(context.state.schema);
  const { window, planBelow } = DEFAULT_TUNING;
  const { diff, pending, planned } = await context.connections.use(ref.target, "target", signal, async (session) => {
    const found = await state.diffs.read(session, ref.migration, diffId);
    const list = found?.state === "running" ? await state.chunks.pending(session, ref.migration, diffId, planBelow) : [];
    return { diff: found, pending: list, planned: list.length >= planBelow || (await state.tables.allPlanned(session, ref.migration, diffId)) };
  });
  if (diff === null) return [];
  const data = { ...ref, diffId };
  const repair: DiffJob[] = diff.repairState === "pending" || diff.repairState === "running" ? [{ name: "repair", data, opts: { jobId: repairId(ref, diffId) } }] : [];
  if (diff.state !== "pending" && diff.state !== "running") return repair;
  // To the front of the queue: chunks wait for it.
  const prepare: DiffJob[] = [{ name: "prepare", data, opts: { jobId: jobIds.diffPrepare(ref.migration, diffId), lifo: true } }];
  if (diff.state === "pending") return [...repair, ...prepare];
  if (pending.length === 0 && planned && (await finishDiff(context, state, ref, diffId, signal))) return repair;
  const chunks = pending.slice(0, window).map((chunk): DiffJob => ({
    name: "chunk",
    data: { ...data, table: chunk.table, chunk: chunk.number },
    opts: { jobId: jobIds.diffChunk(ref.migration, diffId, chunk.table, chunk.number) },
  }));
  return [...repair, ...(planned ? [] : prepare), ...chunks];
}

function repairId(ref: MigrationRef, diffId: string): string {
  return `repair.${ref.migration}.${diffId}`;
}

async function put(queue: Queue, jobs: readonly DiffJob[], replaceEnded: boolean): Promise<void> {
  if (jobs.length === 0) return;
  if (replaceEnded) await freeEndedIds(queue, jobs.map(({ opts }) => opts.jobId));
  await queue.addBulk(jobs as DiffJob[]);
}

/** Asks for the repair of a diff's confirmed differences; the report is in the state schema (`readRepairReport`), not in Redis. */
export async function startRepair(context: Context, ref: MigrationRef, diffId: string, dryRun: boolean, signal: AbortSignal): Promise<{ diffId: string; dryRun: boolean }> {
  await requestRepair(context, ref, diffId, dryRun, signal);
  await ensureDiffJobs(context, ref, diffId, signal);
  return { diffId, dryRun };
}
