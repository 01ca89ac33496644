/** Queues `tail` and `apply`: long roles as leases. A lease works for at most a minute, ends at a boundary, and the same job goes on at once on whichever worker is free. */
import type { Job } from "bullmq";
import { leaseJob, type LeaseJob } from "../../shared/contracts/jobs.js";
import { parseContract } from "../../shared/contracts/spec.js";
import { runApplier } from "../apply/applier.js";
import { requests } from "../control/job-request.js";
import { createStatementExecutor, createStatementPolicy } from "../ddl/index.js";
import { runTail } from "../tail/tail.js";
import { chainOf, type ProcessorContext } from "./context.js";
import { ensureJobs } from "./ensure-jobs.js";
import { NextLease, guarded, type JobFunction } from "./outcome.js";

/** milliseconds */
const LEASE = 60_000;

export function createTailProcessor(context: ProcessorContext): JobFunction {
  return guarded(context, refOf, async (job, signal) => {
    const ref = refOf(job);
    const end = await runTail(context, ref, { chain: chainOf(context, ref), policy: createStatementPolicy(), lease: LEASE }, signal);
    if (end === "lease") throw new NextLease();
    // The tables that start over are to be planned, and the chain begins anew.
    if (end === "restarted") {
      await ensureJobs(context, [requests.advance(ref)]);
      throw new NextLease();
    }
    // Behind a barrier the applier rings when the statement was executed.
    if (end === "barrier") await ensureJobs(context, [requests.apply(ref)]);
    return { end };
  });
}

export function createApplyProcessor(context: ProcessorContext): JobFunction {
  return guarded(context, refOf, async (job, signal) => {
    const ref = refOf(job);
    const blocking = context.redis.duplicate();
    blocking.on("error", () => undefined);
    const onAbort = () => blocking.disconnect();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const end = await runApplier(context, ref, {
        chain: chainOf(context, ref),
        executor: createStatementExecutor(context),
        blocking,
        lease: LEASE,
        // A statement may have tables copied anew: then the phase is copying again.
        onBarrierPassed: () => ensureJobs(context, [requests.tail(ref), requests.advance(ref)]),
      }, signal);
      if (end === "lease") throw new NextLease();
      // The copy goes on where draining interrupted it.
      if (end === "drained") await ensureJobs(context, [requests.advance(ref)]);
      return { end };
    } finally {
      signal.removeEventListener("abort", onAbort);
      blocking.disconnect();
    }
  });
}

function refOf(job: Job): LeaseJob {
  return parseContract(leaseJob, job.data, "the payload of a lease");
}
