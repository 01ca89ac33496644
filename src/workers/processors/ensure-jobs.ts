/** Puts requested jobs into their queues; a job of the same id that is there already is left alone. */
import type { Job, JobsOptions, Queue } from "bullmq";
import type { QueueName } from "../../shared/queues.js";
import { FIRST_OF_ALL, WAITED_LONG } from "../control/copy-priority.js";
import type { JobRequest } from "../control/job-request.js";
import type { ProcessorContext } from "./context.js";

/**
 * Frees the ids of jobs that ended and kept them, and of those that are in no list after Redis lost a part of its keys
 * (`unknown`): such a job would never run, and no other could have its id.
 */
export async function freeEndedIds(queue: Queue, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map(async (id) => {
    const state = await queue.getJobState(id);
    if (state === "failed" || state === "completed" || state === "unknown") await queue.remove(id);
  }));
}

/** @param options.replaceEnded also where a job of that id failed: for the reconciler, since it costs a look at each */
export async function ensureJobs(context: Pick<ProcessorContext, "queues">, requests: readonly JobRequest[], options: { replaceEnded?: boolean } = {}): Promise<void> {
  const byQueue = new Map<QueueName, JobRequest[]>();
  for (const request of requests) {
    const list = byQueue.get(request.queue);
    if (list) list.push(request);
    else byQueue.set(request.queue, [request]);
  }
  await Promise.all([...byQueue].map(async ([name, list]) => {
    const queue = context.queues[name];
    if (options.replaceEnded) {
      await freeEndedIds(queue, list.map((r) => r.id));
      const head = list.find((r) => r.priority !== undefined);
      if (head) await promoteOld(queue, head.id);
    }
    await queue.addBulk(list.map((r) => ({ name: r.name, data: r.data, opts: jobOptions(r) })));
  }));
}

function jobOptions(request: JobRequest): JobsOptions {
  return {
    jobId: request.id,
    ...(request.priority === undefined ? {} : { priority: request.priority }),
    ...(request.ownTrace === true ? { telemetry: { omitContext: true } } : {}),
  };
}

/** What is preferred must not keep others waiting for ever: the head of each window is brought forward in the end. */
async function promoteOld(queue: Queue, id: string): Promise<void> {
  const job = (await queue.getJob(id)) as Job | undefined;
  if (job === undefined || job.priority <= FIRST_OF_ALL || Date.now() - job.timestamp < WAITED_LONG || (await job.getState()) !== "prioritized") return;
  // It may be taken up this very moment.
  await job.changePriority({ priority: FIRST_OF_ALL }).catch(() => undefined);
}

/** Failed jobs keep their ids, and a job of that id could not be added again: they go when a migration is resumed. */
export async function removeFailedJobs(context: Pick<ProcessorContext, "queues">, migration: string): Promise<void> {
  for (const queue of Object.values(context.queues)) {
    const failed = await queue.getJobs(["failed"], 0, 999);
    for (const job of failed) {
      const data = job?.data as { migration?: unknown } | undefined;
      if (data?.migration === migration) await job.remove().catch(() => undefined);
    }
  }
}
