/** `drover status`: one migration, or all; with `--watch` until it ends or the user has enough. */
import type { Command } from "commander";
import type { MigrationStatus } from "../../../shared/contracts/status.js";
import type { DroverClient } from "../../client/drover-client.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { statusLines, statusTable } from "../format/status-lines.js";
import { action, type Cli, type Run } from "../run.js";

/** Milliseconds between two looks of `--watch`. */
const INTERVAL = 1_000;

export function addStatusCommand(program: Command, cli: Cli): void {
  program
    .command("status")
    .summary("show one migration, or all")
    .description("Shows a migration's phase, the progress of its tables, its lag and its errors; without an id all migrations.\nRead from the targets: it needs no worker.")
    .argument("[id]", "the migration; all without it")
    .option("-w, --watch", "redraw every second, until it has ended")
    .option("--json", "print one JSON document (with --watch one per line)")
    .addHelpText("after", "\nExamples:\n  drover status\n  drover status shop --watch\n  drover status shop --json")
    .action(
      action(cli, async (run, id: string | undefined, options: { watch?: boolean }) =>
        run.withClient(async (client) => {
          if (options.watch === true) return await watch(run, client, id);
          if (id === undefined) return await showAll(run, client);
          const status = await client.status(id);
          run.print(status, (paint) => statusLines(status, paint, run.size));
          return EXIT.done;
        }),
      ),
    );
}

async function showAll(run: Run, client: DroverClient): Promise<ExitCode> {
  const { migrations, unreachable } = await client.listMigrations();
  for (const { connection, message } of unreachable) run.note(`connection ${connection} could not be asked, its migrations are missing here: ${message}`);
  run.print(migrations, (paint) => statusTable(migrations, paint));
  // An empty list of servers that did not answer says nothing; a script must not take it for "no migration".
  return migrations.length === 0 && unreachable.length > 0 ? EXIT.usage : EXIT.done;
}

async function watch(run: Run, client: DroverClient, id: string | undefined): Promise<ExitCode> {
  const { LiveView } = await import("../live-view.js");
  const view = new LiveView(run.terminal, "stdout");
  for (;;) {
    const statuses = id === undefined ? (await client.listMigrations()).migrations : [await client.status(id)];
    if (run.json) run.terminal.stdout.write(`${JSON.stringify(id === undefined ? statuses : statuses[0])}\n`);
    else if (view.isLive) view.show((paint, size) => statuses.flatMap((status) => statusLines(status, paint, { ...size, height: Math.floor(size.height / statuses.length) })));
    else run.print(statuses, (paint) => statuses.map((status) => statusLines(status, paint, run.size)[0] ?? ""));
    if (id !== undefined && statuses.every(hasEnded)) {
      view.keep();
      return statuses[0]?.phase === "failed" ? EXIT.failed : EXIT.done;
    }
    await new Promise((resolve) => setTimeout(resolve, INTERVAL));
  }
}

function hasEnded(status: MigrationStatus): boolean {
  return status.phase === "completed" || status.phase === "stopped" || status.phase === "failed";
}
