/** A worker of the queue `diff` alone, with what the reconciler does for diffs; so small chunks and hooks can be tested. */
import { Worker } from "bullmq";
import { LOCK_DURATION, STALLED_INTERVAL, openQueues, openRedis } from "../../src/shared/queues.js";
import { unfinishedDiffs } from "../../src/workers/diff/index.js";
import { DEFAULT_TUNING, type DiffTuning } from "../../src/workers/diff/tuning.js";
import type { Hooks } from "../../src/workers/hooks.js";
import { noHooks } from "../../src/workers/hooks.js";
import { Liveness } from "../../src/workers/liveness.js";
import type { ProcessorContext } from "../../src/workers/processors/context.js";
import { ensureDiffJobs } from "../../src/workers/processors/diff-jobs.js";
import { DIFF_JOBS_PER_SLOT, createDiffProcessor } from "../../src/workers/processors/diff.js";
import { WorkerMetrics } from "../../src/workers/monitoring/worker-metrics.js";
import { ErrorRecorder } from "../../src/workers/processors/error-recorder.js";
import { Connections } from "../../src/shared/mysql/connections.js";
import type { DiffScene } from "./diff-scene.js";

export interface DiffWorkerOptions {
  hooks?: Hooks;
  concurrency?: number;
  tuning?: Partial<DiffTuning>;
  /** Between two turns of the reconciler, in milliseconds. */
  interval?: number;
}

export class DiffWorker implements AsyncDisposable {
  readonly context: ProcessorContext;
  private readonly worker: Worker;
  private readonly reconciler: NodeJS.Timeout;
  private readonly shutdown = new AbortController();
  private turn: Promise<void> = Promise.resolve();

  constructor(scene: DiffScene, options: DiffWorkerOptions = {}) {
    const { config, log, state } = scene.context;
    const redis = openRedis(config.redisUrl);
    redis.on("error", () => undefined);
    const connections = new Connections({ config, worker: "diff-worker" });
    const shutdown = this.shutdown.signal;
    this.context = {
      config, log, state, connections, redis, shutdown, worker: "diff-worker", hooks: options.hooks ?? noHooks, queues: openQueues(redis, config.prefix),
      liveness: new Liveness(redis, config.prefix, "diff-worker"), errors: new ErrorRecorder({ connections, state, log, shutdown }),
      metrics: new WorkerMetrics({ sessions: () => connections.count() }),
    };
    const process = createDiffProcessor(this.context, { slots: options.concurrency ?? 2, tuning: { ...DEFAULT_TUNING, ...options.tuning } });
    this.worker = new Worker("diff", (job, token, signal) => process(job, token, signal), {
      connection: redis, prefix: config.prefix, concurrency: (options.concurrency ?? 2) * DIFF_JOBS_PER_SLOT, lockDuration: LOCK_DURATION, stalledInterval: STALLED_INTERVAL, maxStalledCount: 1000, removeOnComplete: { count: 0 },
    });
    this.worker.on("error", () => undefined);
    this.reconciler = setInterval(() => {
      this.turn = this.turn.then(() => this.reconcile()).catch(() => undefined);
    }, options.interval ?? 500);
  }

  async reconcile(): Promise<void> {
    for (const { migration, diffId } of await unfinishedDiffs(this.context, "DST", this.shutdown.signal))
      await ensureDiffJobs(this.context, { migration, target: "DST" }, diffId, this.shutdown.signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.reconciler);
    this.shutdown.abort(new Error("the test ends"));
    await this.worker.close();
    await this.turn;
    this.context.connections.close();
    await this.context.liveness.close();
    await Promise.all(Object.values(this.context.queues).map((queue) => queue.close()));
    this.context.redis.disconnect();
  }
}
