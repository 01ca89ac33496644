/** `drover worker`: processors until SIGTERM or SIGINT. */
import type { Command } from "commander";
import { QUEUE_NAMES, type QueueName } from "../../../shared/queue-names.js";
import { choicesArgument, integerArgument } from "../arguments.js";
import { action, openTelemetry, type Cli } from "../run.js";
import { untilSignal } from "../until-signal.js";

/** By the contract; what is not ended by then stalls and is taken over by another worker. Milliseconds. */
const CLOSE_LIMIT = 10_000;

export function addWorkerCommand(program: Command, cli: Cli): void {
  program
    .command("worker")
    .summary("run processors until SIGTERM or SIGINT")
    .description("Runs processors for the queues until SIGTERM or SIGINT; then ends its jobs cleanly, within 10 s. A second signal ends it at once.\nAny number of workers, on any hosts; each may die at any moment.")
    .option("--queues <names>", `only these queues: ${QUEUE_NAMES.join(", ")} (default: all)`, choicesArgument(QUEUE_NAMES))
    .option("--concurrency <n>", "copy and diff jobs at once in this process (default: 2 of each)", integerArgument(1))
    .option("--metrics-port <port>", "serve /healthz, /readyz and /metrics on this port, 0 for a free one (default: DROVER_WORKER_PORT; on loopback unless DROVER_WORKER_HOST says otherwise)", integerArgument(0))
    .addHelpText("after", "\nExamples:\n  drover worker\n  drover worker --metrics-port 9464\n  drover worker --queues copy,diff --concurrency 4")
    .action(
      action(cli, async (run, { metricsPort, ...options }: { queues?: QueueName[]; concurrency?: number; metricsPort?: number }) => {
        const settings = run.config();
        const config = metricsPort === undefined ? settings : { ...settings, workerPort: metricsPort };
        const { runWorker } = await import("../../../workers/index.js");
        const signalled = untilSignal();
        const telemetry = await openTelemetry(config, "drover-worker");
        const worker = await runWorker({ config, ...options, ...(telemetry ? { telemetry: telemetry.hook } : {}) });
        await signalled;
        await Promise.race([worker.close().then(() => telemetry?.close()), new Promise((resolve) => setTimeout(resolve, CLOSE_LIMIT).unref())]);
        // Whatever still holds the process must not hold it longer.
        process.exit(0);
      }),
    );
}
