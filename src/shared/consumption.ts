/**
 * Whether work is being taken from the queues: what `/readyz` says, of a board and of a worker. That Redis answers a ping says
 * little: it may refuse to write, nobody may listen, or whoever listens may hang.
 */
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { orAborted, sleep, within } from "./abort.js";
import type { QueueName } from "./queue-names.js";

export interface QueueState {
  name: QueueName;
  /** Processes that listen to it. */
  workers: number;
  jobs: { waiting: number; active: number; delayed: number; failed: number };
  /** How long the next job has been waiting, in seconds; null when none waits. A lease that goes on counts from its last start. */
  oldestWaitingSeconds: number | null;
  oldestWaitingId: string | null;
}

export interface ConsumptionOptions {
  redis: Redis;
  prefix: string;
  queues: Partial<Record<QueueName, Queue>>;
  /** Fires when the process ends. */
  shutdown: AbortSignal;
}

/** A waiting job that is older than this (seconds) while nobody works on the queue is not being consumed. */
const WAITING_LIMIT = 30;
/** A lease is in the queue for a moment between two workers, and looks old: a second look tells (milliseconds). */
const SECOND_LOOK = 500;
/** How long one look may take, in milliseconds. */
const PATIENCE = 4_000;
/** `/readyz` is open to everybody: what it says may be this old, so that nobody can multiply the load on Redis; milliseconds. */
export const READINESS_LIFE = 1_000;

/** @throws what Redis says */
export async function readQueues({ queues }: Pick<ConsumptionOptions, "queues">): Promise<QueueState[]> {
  return await Promise.all(Object.entries(queues).map(async ([name, queue]) => {
    // Jobs with a priority wait in a list of their own, behind those without one.
    const [counts, workers, [first], [preferred]] = await Promise.all([
      queue.getJobCounts("wait", "prioritized", "active", "delayed", "failed"), queue.getWorkersCount(), queue.getJobs(["wait"], 0, 0, true), queue.getJobs(["prioritized"], 0, 0, true),
    ]);
    // A job may have gone between the listing and its reading.
    const next = first ?? preferred;
    const since = next === undefined ? null : Math.max(next.timestamp + (next.delay ?? 0), next.processedOn ?? 0);
    return {
      name: name as QueueName,
      workers,
      jobs: { waiting: (counts["wait"] ?? 0) + (counts["prioritized"] ?? 0), active: counts["active"] ?? 0, delayed: counts["delayed"] ?? 0, failed: counts["failed"] ?? 0 },
      oldestWaitingSeconds: since === null ? null : Math.max(0, (Date.now() - since) / 1000),
      oldestWaitingId: next?.id ?? null,
    };
  }));
}

/** Why work is not being consumed; empty when it is. Bounded in time; says nothing that is secret. */
export async function consumptionProblems(options: ConsumptionOptions): Promise<string[]> {
  // A command to a connection that is not there would wait in it.
  if (options.redis.status !== "ready" && options.redis.status !== "wait") return ["Redis: not connected"];
  return await within(PATIENCE, options.shutdown, (signal, isLate) =>
    orAborted(look(options, signal), signal).catch((error: unknown) =>
      options.shutdown.aborted ? ["the process ends"] : [`Redis: ${isLate() ? `no answer for ${PATIENCE / 1000} s` : codeOf(error)}`]));
}

async function look(options: ConsumptionOptions, signal: AbortSignal): Promise<string[]> {
  await options.redis.set(`${options.prefix}:ready`, "1", "PX", 1_000);
  const first = await readQueues(options);
  const problems = first.filter((queue) => queue.workers === 0).map((queue) => `queue ${queue.name}: no worker listens`);
  const idle = first.filter((queue) => queue.workers > 0 && isIdle(queue));
  if (idle.length === 0) return problems;
  await sleep(SECOND_LOOK, signal);
  const second = await readQueues(options);
  for (const { name, oldestWaitingId } of idle) {
    const now = second.find((queue) => queue.name === name);
    if (now !== undefined && isIdle(now) && now.oldestWaitingId === oldestWaitingId) problems.push(`queue ${name}: a job has been waiting for ${Math.round(now.oldestWaitingSeconds ?? 0)} s, and nobody works`);
  }
  return problems;
}

function isIdle(queue: QueueState): boolean {
  return queue.jobs.active === 0 && (queue.oldestWaitingSeconds ?? 0) > WAITING_LIMIT;
}

/** Redis's own word (`READONLY`, `OOM`, `MISCONF`), or the network's; never its whole message. */
function codeOf(error: unknown): string {
  const { message, code } = error as { message?: unknown; code?: unknown };
  return /^[A-Z]{3,}\b/.exec(String(message))?.[0] ?? (typeof code === "string" ? code : "does not answer");
}
