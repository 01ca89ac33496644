/** A worker's own port, from before its first connection to its end. */
import type { Worker } from "bullmq";
import { READINESS_LIFE } from "../../shared/consumption.js";
import type { QueueName } from "../../shared/queue-names.js";
import { remembered } from "../../shared/remembered.js";
import type { ProcessorContext } from "../processors/context.js";
import { LoopDelay } from "./loop-delay.js";
import { startMonitoringServer, type MonitoringServer } from "./monitoring-server.js";
import { readinessProblems } from "./readiness.js";
import type { WorkerMetrics } from "./worker-metrics.js";

export interface MonitoringOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  metrics: WorkerMetrics;
}

export class Monitoring {
  private readonly loopDelay = new LoopDelay();
  private server: MonitoringServer | undefined;
  private problems = async (): Promise<string[]> => ["the worker is starting"];

  /** @throws DroverError CONFIG_INVALID when it cannot listen there */
  static async start(options: MonitoringOptions): Promise<Monitoring> {
    const monitoring = new Monitoring();
    try {
      monitoring.server = await startMonitoringServer({ ...options, problems: () => monitoring.problems() });
      return monitoring;
    } catch (error) {
      monitoring.close();
      throw error;
    }
  }

  get url(): string {
    return this.server?.url ?? "";
  }

  /** From now on `/readyz` speaks of these. */
  watch({ redis, config, queues, shutdown }: ProcessorContext, workers: readonly Worker[]): void {
    const own = Object.fromEntries(workers.map((worker) => [worker.name, queues[worker.name as QueueName]]));
    this.problems = remembered(READINESS_LIFE, () => readinessProblems({ redis, prefix: config.prefix, queues: own, workers, loopDelay: this.loopDelay, shutdown }));
  }

  close(): void {
    this.loopDelay.close();
    this.server?.close();
  }
}
