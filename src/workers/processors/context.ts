/** What a processor has beside the engines' context: the queues and Redis. */
import type { Redis } from "ioredis";
import { BacklogChain } from "../../shared/backlog/chain.js";
import type { Queues } from "../../shared/queues.js";
import type { EngineContext, MigrationRef } from "../context.js";
import type { Liveness } from "../liveness.js";
import type { WorkerMetrics } from "../monitoring/worker-metrics.js";
import type { ErrorRecorder } from "./error-recorder.js";

export interface ProcessorContext extends EngineContext {
  queues: Queues;
  redis: Redis;
  liveness: Liveness;
  errors: ErrorRecorder;
  metrics: WorkerMetrics;
  /** Fires when this process ends: work under way is given back to the queue. */
  shutdown: AbortSignal;
}

export function chainOf(context: ProcessorContext, ref: MigrationRef): BacklogChain {
  return new BacklogChain(context.redis, context.config.prefix, ref.migration);
}
