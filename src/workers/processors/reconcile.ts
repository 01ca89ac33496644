/**
 * The reconciler: a repeated job that compares the state schemas with the queues and heals the difference (promise 4).
 * Whatever is unfinished gets the jobs it needs, after whatever happened to Redis, and sessions of dead workers end.
 */
import type { MigrationRef } from "../context.js";
import { unfinishedDiffs } from "../diff/index.js";
import { requests, type JobRequest } from "../control/job-request.js";
import { killOrphans } from "../control/orphans.js";
import { listUnfinished } from "../control/unfinished.js";
import type { ProcessorContext } from "./context.js";
import { ensureDiffJobs } from "./diff-jobs.js";
import { ensureSchedulers } from "./diff-schedulers.js";
import { ensureJobs, freeEndedIds } from "./ensure-jobs.js";

/** The reconciler's pace in milliseconds: an unfinished piece of work is without a job for at most this long. */
export const RECONCILE_INTERVAL = 2_000;
const RECONCILE_ID = "reconcile";

/**
 * Asks for a turn. Every worker does, at this pace; however many there are, one turn per interval comes of it. So the
 * reconciler lives as long as any worker does, and an emptied Redis does not end it.
 */
export async function requestReconcile(context: Pick<ProcessorContext, "queues">): Promise<void> {
  // It heals all others, and nobody would heal it.
  await freeEndedIds(context.queues.control, [RECONCILE_ID]);
  await context.queues.control.add("reconcile", {}, { jobId: RECONCILE_ID, removeOnFail: true, telemetry: { omitContext: true }, deduplication: { id: RECONCILE_ID, ttl: RECONCILE_INTERVAL - 100 } });
}

export async function reconcile(context: ProcessorContext, signal: AbortSignal): Promise<unknown> {
  const unfinished = await listUnfinished(context, unfinishedDiffs, signal);
  await Promise.all([
    // As jobs of their own: a long planning of one must not keep the turn from the others.
    ensureJobs(context, [...unfinished.migrations.map(requests.advance), ...unfinished.streaming.flatMap(leases), ...unfinished.cutovers.map(requests.cutover)], { replaceEnded: true }),
    settleQuietly(context, () => ensureSchedulers(context, signal)),
    ...unfinished.diffs.map(({ ref, diffId }) => settleQuietly(context, () => ensureDiffJobs(context, ref, diffId, signal))),
  ]);
  await Promise.all([...unfinished.servers].map((server) => settleQuietly(context, () => killOrphans(context, server, (workers) => context.liveness.look(workers), signal))));
  return { migrations: unfinished.migrations.length + unfinished.streaming.length, diffs: unfinished.diffs.length };
}

/** One that streams needs no more: of hundreds of them a job each to say so would be most of what a turn costs. */
function leases(ref: MigrationRef): JobRequest[] {
  return [requests.tail(ref), requests.apply(ref)];
}

/** One server's trouble must not keep the others from being looked after; the next turn tries again. */
async function settleQuietly(context: ProcessorContext, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    context.log.debug({ err: error }, "a part of the reconciler's turn failed");
  }
}
