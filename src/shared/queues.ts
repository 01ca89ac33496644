/** The BullMQ queues: names, job ids, default options. Redis is disposable: every id here can be made again from the state schema. */
import { Queue, type Telemetry } from "bullmq";
import { Redis } from "ioredis";
import type { QueueName } from "./queue-names.js";

export { QUEUE_NAMES, type QueueName } from "./queue-names.js";

/** BullMQ forbids ":" in custom job ids; migration and diff ids have none, nor ".". */
export const jobIds = {
  advance: (migration: string) => `advance.${migration}`,
  cutover: (migration: string) => `cutover.${migration}`,
  plan: (migration: string, table: number) => `plan.${migration}.${table}`,
  chunk: (migration: string, table: number, chunk: number) => `chunk.${migration}.${table}.${chunk}`,
  index: (migration: string, table: number) => `index.${migration}.${table}`,
  tail: (migration: string) => `tail.${migration}`,
  apply: (migration: string) => `apply.${migration}`,
  diffPrepare: (migration: string, diff: string) => `diff.${migration}.${diff}`,
  diffChunk: (migration: string, diff: string, table: number, chunk: number) => `diff.${migration}.${diff}.${table}.${chunk}`,
} as const;

/** Short locks, so that a dead worker's job is taken over well within 30 s (design §7). */
export const LOCK_DURATION = 10_000;
export const STALLED_INTERVAL = 5_000;
/** A lifetime budget that BullMQ never resets: it must not end work that only had bad luck. */
export const MAX_STALLED_COUNT = 1_000_000;

export const DEFAULT_JOB_OPTIONS = {
  // A finished job leaves at once: its id must be free for the next round, and MySQL remembers what was done.
  removeOnComplete: true,
  removeOnFail: { age: 24 * 3600, count: 1000 },
} as const;

/**
 * An answer that takes longer than this does not come (milliseconds): Redis' host is gone without a word, and the kernel would go on sending for a
 * quarter of an hour. Longer than BullMQ's blocking commands wait (10 s).
 */
const SILENCE = 30_000;

/** A Redis connection as BullMQ needs it: commands wait for Redis to come back instead of failing. */
export function openRedis(url: string): Redis {
  return new Redis(url, { maxRetriesPerRequest: null, socketTimeout: SILENCE, enableReadyCheck: true, retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 6), 2_000) });
}

export type Queues = Record<QueueName, Queue>;

/** All queues over one Redis connection. */
export function openQueues(redis: Redis, prefix: string, telemetry?: Telemetry): Queues {
  const open = (name: QueueName) => {
    const queue = new Queue(name, { connection: redis, prefix, defaultJobOptions: DEFAULT_JOB_OPTIONS, ...(telemetry ? { telemetry } : {}) });
    // Without a listener an emitted error would end the process; ioredis reconnects by itself.
    queue.on("error", () => undefined);
    return queue;
  };
  return { control: open("control"), copy: open("copy"), tail: open("tail"), apply: open("apply"), diff: open("diff") };
}
