/** Puts the metrics between the engines and their hooks, and between BullMQ and the processors: neither knows of them. */
import { DelayedError, WaitingError } from "bullmq";
import type { QueueName } from "../../shared/queue-names.js";
import type { Hooks } from "../hooks.js";
import type { JobFunction } from "../processors/outcome.js";
import type { JobOutcome, WorkerMetrics } from "./worker-metrics.js";

export function observedHooks(hooks: Hooks, metrics: WorkerMetrics): Hooks {
  return {
    at: (point, detail) => {
      metrics.at(point, detail);
      return hooks.at(point, detail);
    },
  };
}

export function observedJobs(queue: QueueName, process: JobFunction, metrics: WorkerMetrics): JobFunction {
  return async (job, token, signal) => {
    const ended = metrics.jobStarted(queue);
    try {
      const result = await process(job, token, signal);
      ended("done");
      return result;
    } catch (error) {
      ended(outcomeOf(error));
      throw error;
    }
  };
}

function outcomeOf(error: unknown): JobOutcome {
  if (error instanceof WaitingError) return "handed-on";
  return error instanceof DelayedError ? "retried" : "failed";
}
