/** Puts requested jobs into their queues; a job of the same id that is there already is left alone. */
import type { QueueName } from "../../shared/queues.js";
import type { JobRequest } from "../control/job-request.js";
import type { ProcessorContext } from "./context.js";

export async function ensureJobs(context: Pick<ProcessorContext, "queues">, requests: readonly JobRequest[]): Promise<void> {
  const byQueue = new Map<QueueName, JobRequest[]>();
  for (const request of requests) {
    const list = byQueue.get(request.queue);
    if (list) list.push(request);
    else byQueue.set(request.queue, [request]);
  }
  await Promise.all([...byQueue].map(([queue, list]) => context.queues[queue].addBulk(list.map((r) => ({ name: r.name, data: r.data, opts: { jobId: r.id } })))));
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
