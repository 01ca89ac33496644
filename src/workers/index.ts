/** The workers' entry: everything behind it is reached through `runWorker`. */
export { runWorker, type RunningWorker, type WorkerOptions } from "./worker.js";
