/** The composition root of a worker process: one Redis connection, one set of sessions, a BullMQ worker per queue. */
import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import { hostname } from "node:os";
import { Worker, type Telemetry } from "bullmq";
import type { Config } from "../shared/config.js";
import { every } from "../shared/every.js";
import { createLogger, type Logger } from "../shared/logger.js";
import { Connections } from "../shared/mysql/connections.js";
import { DEFAULT_JOB_OPTIONS, LOCK_DURATION, MAX_STALLED_COUNT, QUEUE_NAMES, STALLED_INTERVAL, openQueues, openRedis, type QueueName } from "../shared/queues.js";
import { State } from "../shared/state/state.js";
import { noHooks, type Hooks } from "./hooks.js";
import { Liveness } from "./liveness.js";
import { ServerLimits } from "./limits/server-limits.js";
import { Monitoring } from "./monitoring/monitoring.js";
import { observedHooks, observedJobs } from "./monitoring/observed.js";
import { WorkerMetrics } from "./monitoring/worker-metrics.js";
import type { ProcessorContext } from "./processors/context.js";
import { createControlProcessor } from "./processors/control.js";
import { createCopyProcessor } from "./processors/copy.js";
import { DIFF_JOBS_PER_SLOT, createDiffProcessor } from "./processors/diff.js";
import { ErrorRecorder } from "./processors/error-recorder.js";
import { createApplyProcessor, createTailProcessor } from "./processors/lease.js";
import type { JobFunction } from "./processors/outcome.js";
import { RECONCILE_INTERVAL, requestReconcile } from "./processors/reconcile.js";
import { logRedis } from "./redis-log.js";

export interface WorkerOptions {
  config: Config;
  /** Default: all. */
  queues?: readonly QueueName[];
  /** Copy and diff jobs at once in this process; default 2. */
  concurrency?: number;
  hooks?: Hooks;
  log?: Logger;
  /** BullMQ's hook for traces, such as `BullMQOtel`. */
  telemetry?: Telemetry;
}

export interface RunningWorker {
  readonly id: string;
  /** Of `/healthz`, `/readyz` and `/metrics`; null without a port for them. */
  readonly monitoringUrl: string | null;
  /** Gives the work under way back to the queues and closes every connection; within 10 s. */
  close(): Promise<void>;
}

/** Leases are idle most of the time; a worker holds as many as come. */
const LEASES = 64;
const CONTROL_JOBS = 16;
/** For Redis to take the jobs back; after that they stall and are taken over. */
const CLOSE_TIMEOUT = 8_000;

export async function runWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { config } = options;
  const id = `w-${hostname()}-${process.pid}-${randomBytes(3).toString("hex")}`;
  const log = (options.log ?? createLogger(config.logLevel)).child({ worker: id });
  const shutdown = new AbortController();
  setMaxListeners(0, shutdown.signal);
  const metrics: WorkerMetrics = new WorkerMetrics({ sessions: () => connections.count() });
  // Before anything that would have to be closed when the port is taken.
  const monitoring = config.workerPort === null ? null : await Monitoring.start({ host: config.workerHost, port: config.workerPort, metrics });
  const redis = openRedis(config.redisUrl);
  logRedis(redis, log);
  const queues = openQueues(redis, config.prefix, options.telemetry);
  const limits = new ServerLimits({ config, redis, worker: id });
  const connections = new Connections({ config, worker: id, observer: metrics, ...(config.limits.size > 0 ? { admission: limits } : {}) });
  const state = new State(config.stateSchema);
  const context: ProcessorContext = {
    config, log, connections, state, worker: id, hooks: observedHooks(options.hooks ?? noHooks, metrics), queues, redis, metrics,
    liveness: new Liveness(redis, config.prefix, id),
    errors: new ErrorRecorder({ connections, state, log, shutdown: shutdown.signal }),
    shutdown: shutdown.signal,
  };
  const concurrency = options.concurrency ?? 2;
  const processors: Record<QueueName, { process: JobFunction; concurrency: number }> = {
    control: { process: createControlProcessor(context), concurrency: CONTROL_JOBS },
    copy: { process: createCopyProcessor(context), concurrency },
    tail: { process: createTailProcessor(context), concurrency: LEASES },
    apply: { process: createApplyProcessor(context), concurrency: LEASES },
    diff: { process: createDiffProcessor(context, { slots: concurrency }), concurrency: concurrency * DIFF_JOBS_PER_SLOT },
  };
  const workers = (options.queues ?? QUEUE_NAMES).map((name) => openWorker(context, name, { ...processors[name], telemetry: options.telemetry }));
  monitoring?.watch(context, workers);
  const endReconciler = every(RECONCILE_INTERVAL, () => requestReconcile(context));
  void requestReconcile(context).catch(() => undefined);
  log.info({ queues: workers.map((w) => w.name), concurrency, monitoring: monitoring?.url }, "worker started");
  return {
    id,
    monitoringUrl: monitoring?.url ?? null,
    close: async () => {
      endReconciler();
      shutdown.abort(new Error("the worker is shutting down"));
      await withTimeout(Promise.all(workers.map((worker) => worker.close())), CLOSE_TIMEOUT, () => Promise.all(workers.map((worker) => worker.close(true))));
      monitoring?.close();
      connections.close();
      limits.close();
      await withTimeout(context.liveness.close(), 500);
      await withTimeout(Promise.all(Object.values(queues).map((queue) => queue.close())), 1_000);
      redis.disconnect();
      log.info("worker ended");
    },
  };
}

function openWorker(context: ProcessorContext, name: QueueName, options: { process: JobFunction; concurrency: number; telemetry: Telemetry | undefined }): Worker {
  const { redis, config, log, metrics } = context;
  const work = observedJobs(name, options.process, metrics);
  // BullMQ hands the signal only to a processor that declares three parameters.
  const worker = new Worker(name, (job, token, signal) => work(job, token, signal), {
    name: context.worker, connection: redis, prefix: config.prefix, concurrency: options.concurrency, ...(options.telemetry ? { telemetry: options.telemetry } : {}),
    // After Redis was away; the default of 15 s would be half of the time in which work must go on.
    runRetryDelay: 2_000,
    lockDuration: LOCK_DURATION, stalledInterval: STALLED_INTERVAL, maxStalledCount: MAX_STALLED_COUNT,
    removeOnComplete: { count: 0 }, removeOnFail: DEFAULT_JOB_OPTIONS.removeOnFail,
  });
  worker.on("error", (error) => log.debug({ queue: name, message: error.message }, "queue"));
  // Whoever lost its lock must stop: another worker has the job by now. What it still writes, the fence undoes (I3).
  worker.on("lockRenewalFailed", (ids) => {
    metrics.locksLost(name, ids.length);
    ids.forEach((jobId) => worker.cancelJob(jobId, "the job's lock was lost"));
  });
  worker.on("stalled", (jobId) => {
    metrics.jobStalled(name);
    log.warn({ queue: name, id: jobId }, "a job had stalled and is taken over");
  });
  return worker;
}

async function withTimeout(work: Promise<unknown>, milliseconds: number, onTimeout?: () => Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<"timeout">((resolve) => (timer = setTimeout(() => resolve("timeout"), milliseconds)));
  const first = await Promise.race([work.catch(() => undefined), timeout]);
  clearTimeout(timer);
  if (first === "timeout" && onTimeout) await Promise.race([onTimeout().catch(() => undefined), new Promise((resolve) => setTimeout(resolve, 500))]);
}
