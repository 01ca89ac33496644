/** Whether this worker takes jobs from its queues. */
import type { Worker } from "bullmq";
import { consumptionProblems, type ConsumptionOptions } from "../../shared/consumption.js";
import { LOCK_DURATION } from "../../shared/queues.js";
import type { LoopDelay } from "./loop-delay.js";

export interface ReadinessOptions extends ConsumptionOptions {
  workers: readonly Worker[];
  loopDelay: LoopDelay;
}

/** Locks are renewed every half of their life: a loop that is late for longer may lose them. Milliseconds. */
const LATE = LOCK_DURATION / 2;

export async function readinessProblems(options: ReadinessOptions): Promise<string[]> {
  if (options.shutdown.aborted) return ["the worker is shutting down"];
  const problems = options.workers.filter((worker) => !worker.isRunning() || worker.isPaused()).map((worker) => `queue ${worker.name}: this worker does not run`);
  const { worst } = options.loopDelay;
  if (worst > LATE) problems.push(`the event loop was blocked for ${(worst / 1000).toFixed(1)} s`);
  return [...problems, ...(await consumptionProblems(options))];
}
