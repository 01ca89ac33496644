/** `drover pause`, `resume`, `stop` and `remove`: a migration's life. */
import type { Command } from "commander";
import type { MigrationStatus } from "../../../shared/contracts/status.js";
import type { AnswerOptions } from "../../client/command-channel.js";
import type { DroverClient } from "../../client/drover-client.js";
import { durationArgument } from "../arguments.js";
import { statusLines } from "../format/status-lines.js";
import { action, type Cli } from "../run.js";

interface LifecycleCommand {
  name: string;
  summary: string;
  description: string;
  run: (client: DroverClient, id: string, options: AnswerOptions) => Promise<MigrationStatus>;
}

const COMMANDS: readonly LifecycleCommand[] = [
  {
    name: "pause",
    summary: "pause a migration, keeping everything",
    description: "Pauses a migration. Everything is kept; `resume` goes on where it stood, as long as the source still has its binlog.",
    run: (client, id, options) => client.pause(id, options),
  },
  {
    name: "resume",
    summary: "go on with a paused or failed migration",
    description: "Goes on with a paused or failed migration where it stood.",
    run: (client, id, options) => client.resume(id, options),
  },
  {
    name: "stop",
    summary: "end a migration for good",
    description: "Ends a migration for good. The target keeps its rows as they are, at a transaction boundary of the source once it streams.",
    run: (client, id, options) => client.stop(id, options),
  },
  {
    name: "remove",
    summary: "forget a migration that has ended",
    description: "Deletes what Drover remembers of a migration that works no more; never target rows. Prints its last status.",
    run: (client, id, options) => client.remove(id, options),
  },
];

export function addLifecycleCommands(program: Command, cli: Cli): void {
  for (const { name, summary, description, run: carryOut } of COMMANDS) {
    program
      .command(name)
      .summary(summary)
      .description(description)
      .argument("<id>", "the migration")
      .option("--timeout <duration>", "wait at most this long for a worker's answer (default: 30s)", durationArgument)
      .option("--json", "print one JSON document")
      .addHelpText("after", `\nExamples:\n  drover ${name} shop\n  drover ${name} shop --timeout 5s --json`)
      .action(
        action(cli, async (run, id: string, { timeout }: { timeout?: number }) => {
          const status = await run.withClient((client) => carryOut(client, id, { timeout, onNoWorker: run.onNoWorker }));
          run.print(status, (paint) => (name === "remove" ? [`${id}: removed; the target keeps its rows`] : statusLines(status, paint, run.size)));
        }),
      );
  }
}
