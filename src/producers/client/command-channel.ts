/**
 * Sends commands to the workers: jobs of the queue `control`, whose result or failure is the worker's answer. The
 * payloads are `controlJobs` of `contracts/jobs.ts`, which any other program may enqueue as well.
 */
import { randomUUID } from "node:crypto";
import { QueueEvents, Queue, type Job, type Telemetry } from "bullmq";
import type { Redis } from "ioredis";
import type { z } from "zod";
import { BacklogChain, type BacklogSize } from "../../shared/backlog/chain.js";
import type { controlJobs, ControlJobName } from "../../shared/contracts/jobs.js";
import { DroverError, abortedError, type ErrorRecord } from "../../shared/errors.js";
import type { Finding } from "../../shared/preflight/finding.js";
import { decodeJobError } from "../../shared/job-error.js";
import { DEFAULT_JOB_OPTIONS, openRedis } from "../../shared/queues.js";
import { checkRedis } from "./redis-check.js";
import { openProducerRedis, redisAnswer } from "./redis-answer.js";

/** How long a worker may take to answer a command, in milliseconds. */
const ANSWER_TIMEOUT = 30_000;
/** How long it may take to find out why there was no answer, in milliseconds. */
const EXPLANATION = 30_000;
/** Jobs looked through for a `start` that nobody has taken yet. */
const LOOK_THROUGH = 1_000;

export interface AnswerOptions {
  /** Milliseconds; default 30 s. */
  timeout?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called when no worker consumes the queue `control` as the command is sent: it is waited for all the same. */
  onNoWorker?: (() => void) | undefined;
}

/** A `start` that no worker has carried out. */
export interface UnansweredStart {
  spec: unknown;
  /** ISO time. */
  since: string;
  /** Why a worker refused it; null while it waits. */
  refusal: DroverError | null;
}

export class CommandChannel {
  private readonly redisUrl: string;
  private readonly prefix: string;
  private readonly redis: Redis;
  private readonly telemetry: Telemetry | undefined;
  private queue: Queue | undefined;
  private events: { redis: Redis; queueEvents: QueueEvents } | undefined;

  constructor(options: { redisUrl: string; prefix: string; telemetry?: Telemetry | undefined }) {
    this.redisUrl = options.redisUrl;
    this.prefix = options.prefix;
    this.telemetry = options.telemetry;
    this.redis = openProducerRedis(options.redisUrl);
  }

  /** What of Redis stands in a migration's way. */
  async check(backlogBytes: number): Promise<Finding[]> {
    return await checkRedis({ redis: this.redis, url: this.redisUrl, prefix: this.prefix, backlogBytes });
  }

  /** Enqueues a command. @throws DroverError REDIS_UNAVAILABLE */
  async enqueue<N extends ControlJobName>(name: N, data: z.input<(typeof controlJobs)[N]>): Promise<Job> {
    await this.listen();
    return await this.ask(() =>
      this.control().add(name, data, {
        // Unique per call: pausing a second time must not be taken for the first one.
        jobId: `${name}.${randomUUID()}`,
        // Kept for a while, so that an answer that came before we looked is still there.
        removeOnComplete: { age: 600, count: 100 },
        removeOnFail: DEFAULT_JOB_OPTIONS.removeOnFail,
      }),
    );
  }

  /**
   * Waits for a worker's answer to a command.
   * @throws DroverError the worker's own error; NO_ANSWER when none came in time; ABORTED
   */
  async answer(job: Job, options: AnswerOptions = {}): Promise<unknown> {
    const timeout = options.timeout ?? ANSWER_TIMEOUT;
    const { queueEvents } = await this.listen();
    // BullMQ's own limit only cleans up its listeners, after ours has passed and was explained.
    const finished = job.waitUntilFinished(queueEvents, timeout + EXPLANATION).catch((error: unknown) => {
      throw decodeJobError(error instanceof Error ? error.message : String(error));
    });
    finished.catch(() => undefined);
    let end = (): void => undefined;
    const given = new Promise<never>((_resolve, reject) => {
      const timer = setTimeout(() => void this.noAnswer(job.id ?? "", timeout).then(reject), timeout);
      const onAbort = () => reject(abortedError(options.signal as AbortSignal));
      if (options.signal?.aborted === true) onAbort();
      options.signal?.addEventListener("abort", onAbort);
      end = () => {
        clearTimeout(timer);
        options.signal?.removeEventListener("abort", onAbort);
      };
    });
    try {
      return await Promise.race([finished, given]);
    } finally {
      end();
    }
  }

  /** Enqueues a command and waits for its answer. */
  async send<N extends ControlJobName>(name: N, data: z.input<(typeof controlJobs)[N]>, options: AnswerOptions = {}): Promise<unknown> {
    const job = await this.enqueue(name, data);
    if (options.onNoWorker && !(await this.workerPresent())) options.onNoWorker();
    return await this.answer(job, options);
  }

  /** Whether a worker listens to the queue `control` now. A Redis that does not tell counts as yes. */
  async workerPresent(): Promise<boolean> {
    try {
      return (await this.ask(() => this.control().getWorkers())).length > 0;
    } catch {
      return true;
    }
  }

  /** The latest `start` command of a migration that no worker has carried out; null when there is none. */
  async unansweredStart(migration: string): Promise<UnansweredStart | null> {
    return (await this.unansweredStarts()).get(migration) ?? null;
  }

  /** The same for all migrations, by id. */
  async unansweredStarts(): Promise<Map<string, UnansweredStart>> {
    const queue = this.control();
    const [waiting, failed] = await this.ask(() =>
      Promise.all([queue.getJobs(["active", "wait", "delayed", "prioritized"], 0, LOOK_THROUGH - 1), queue.getJobs(["failed"], 0, LOOK_THROUGH - 1)]),
    );
    const found = new Map<string, UnansweredStart & { timestamp: number }>();
    // A job may vanish between the listing and its reading.
    for (const job of [...failed, ...waiting].filter((j) => (j as Job | undefined)?.name === "start")) {
      const { spec } = job.data as { spec?: { id?: unknown } };
      if (typeof spec?.id !== "string" || (found.get(spec.id)?.timestamp ?? 0) > job.timestamp) continue;
      const refusal = job.failedReason ? decodeJobError(job.failedReason) : null;
      // Another migration had the id then: no news of the one asked about.
      if (refusal?.code === "MIGRATION_CONFLICT") continue;
      found.set(spec.id, { spec, since: new Date(job.timestamp).toISOString(), refusal, timestamp: job.timestamp });
    }
    return found;
  }

  /** What lies in Redis for a migration and is not applied yet. */
  async backlog(migration: string): Promise<BacklogSize> {
    return await this.ask(() => new BacklogChain(this.redis, this.prefix, migration).size());
  }

  async close(): Promise<void> {
    const ending: Promise<void>[] = [];
    if (this.queue) ending.push(this.queue.close());
    if (this.events) ending.push(this.events.queueEvents.close());
    await Promise.race([Promise.allSettled(ending), new Promise((resolve) => setTimeout(resolve, 1_000).unref())]);
    this.events?.redis.disconnect();
    this.redis.disconnect();
  }

  /** What is known of a command that was not answered. */
  private async noAnswer(id: string, timeout: number): Promise<DroverError> {
    const given = `within ${timeout / 1000} s`;
    const tried = errorOf(await this.ask(() => this.control().getJob(id)).catch(() => undefined));
    if (tried !== null) return new DroverError("NO_ANSWER", `the command was not carried out ${given}: ${tried}. It is tried again (a start for as long as it takes, anything else for two minutes after it was sent), and carried out when that is over`, { cure: "see to what the message says; `drover status` says whether the command was carried out meanwhile" });
    if (await this.workerPresent()) {
      return new DroverError("NO_ANSWER", `no worker answered ${given}, though one is connected to the queue control. The command stays queued, and will still be carried out`, {
        cure: "see the workers' logs; `drover status` says whether the command was carried out meanwhile",
      });
    }
    return new DroverError("NO_ANSWER", `no worker consumes the queue control, and none came ${given}. The command stays queued, and will still be carried out when a worker comes`, {
      cure: "start `drover worker` with the same DROVER_REDIS_URL and DROVER_PREFIX; it takes the command up",
    });
  }

  private control(): Queue {
    if (this.queue) return this.queue;
    this.queue = new Queue("control", { connection: this.redis, prefix: this.prefix, ...(this.telemetry ? { telemetry: this.telemetry } : {}) });
    this.queue.on("error", () => undefined);
    // Each command that waits for its answer listens.
    this.queue.setMaxListeners(0);
    return this.queue;
  }

  /** Begins to listen for answers: before the first command is sent, so that none is missed. */
  private async listen(): Promise<{ queueEvents: QueueEvents }> {
    if (this.events) return this.events;
    const stream = `${this.prefix}:control:events`;
    const [last] = await this.ask(() => this.redis.xrevrange(stream, "+", "-", "COUNT", 1));
    if (this.events) return this.events;
    const redis = openRedis(this.redisUrl);
    redis.on("error", () => undefined);
    // From a known event on: reading "from now" begins a moment after it was asked for, and an answer could fall between.
    const queueEvents = new QueueEvents("control", { connection: redis, prefix: this.prefix, lastEventId: last?.[0] ?? "0-0" });
    queueEvents.on("error", () => undefined);
    queueEvents.setMaxListeners(0);
    this.events = { redis, queueEvents };
    return this.events;
  }

  private ask<T>(work: () => Promise<T>): Promise<T> {
    return redisAnswer(this.redis, this.redisUrl, work);
  }
}

/** Why a worker could not carry out a command that it tries again: its code and message. */
function errorOf(job: Job | undefined): string | null {
  const { code, message } = (job?.progress ?? {}) as Partial<ErrorRecord>;
  return typeof code === "string" && typeof message === "string" ? `${code}: ${message}` : null;
}
