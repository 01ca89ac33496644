/** `drover status`: one migration, or all; with `--watch` until it ends or the user has enough. */
import type { Command } from "commander";
import type { MigrationStatus } from "../../../shared/contracts/status.js";
import type { MigrationList } from "../../client/call-options.js";
import type { DroverClient } from "../../client/drover-client.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { DroverError } from "../../../shared/errors.js";
import { statusLines, statusTable, summaryLine } from "../format/status-lines.js";
import { action, type Cli, type Run } from "../run.js";
import type { Paint, Size } from "../terminal.js";

/** Milliseconds between two looks of `--watch`. */
const INTERVAL = 1_000;

export function addStatusCommand(program: Command, cli: Cli): void {
  program
    .command("status")
    .summary("show one migration, or all")
    .description("Shows a migration's phase, the progress of its tables, its lag and its errors; without an id all migrations.\nRead from the targets: it needs no worker.")
    .argument("[id]", "the migration; all without it")
    .option("-w, --watch", "look every second until it has ended: redrawn on a terminal, else a line whenever something changed")
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
  run.print(migrations, (paint) => (migrations.length === 0 && unreachable.length > 0 ? [unknownLine(unreachable)] : statusTable(migrations, paint)));
  // An empty list of servers that did not answer says nothing; a script must not take it for "no migration".
  return migrations.length === 0 && unreachable.length > 0 ? EXIT.usage : EXIT.done;
}

function unknownLine(unreachable: MigrationList["unreachable"]): string {
  return `no migration is known: ${unreachable.map(({ connection }) => connection).join(", ")} could not be asked`;
}

async function watch(run: Run, client: DroverClient, id: string | undefined): Promise<ExitCode> {
  const { LiveView } = await import("../live-view.js");
  const view = new LiveView(run.terminal, "stdout");
  let printed = "";
  for (let first = true; ; first = false) {
    const statuses = await look(client, id).catch((error: unknown) => {
      // A server that is away for a moment does not end a watch; at the first look it is likelier a wrong setting.
      if (first || !(error instanceof DroverError) || error.kind !== "retryable") throw error;
      return error;
    });
    if (statuses instanceof DroverError) run.note(`${statuses.message}; looking again`);
    else {
      if (run.json) run.terminal.stdout.write(`${JSON.stringify(id === undefined ? statuses : statuses[0])}\n`);
      else if (view.isLive) view.show((paint, size) => liveLines(statuses, paint, size));
      else printed = printChanged(run, statuses, printed);
      if (id !== undefined && statuses.every(hasEnded)) {
        view.keep();
        return statuses[0]?.phase === "failed" ? EXIT.failed : EXIT.done;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, INTERVAL));
  }
}

async function look(client: DroverClient, id: string | undefined): Promise<MigrationStatus[]> {
  if (id !== undefined) return [await client.status(id)];
  const { migrations, unreachable } = await client.listMigrations();
  if (migrations.length === 0 && unreachable.length > 0) throw new DroverError("CONNECTION_LOST", unknownLine(unreachable), { cure: unreachable.map(({ message }) => message).join("; ") });
  return migrations;
}

/** Where there is no room for every table of every migration, a line each. */
function liveLines(statuses: readonly MigrationStatus[], paint: Paint, size: Size): string[] {
  if (statuses.length > 1 && size.height / statuses.length < 6) return statusTable(statuses, paint);
  return statuses.flatMap((status) => statusLines(status, paint, { ...size, height: Math.floor(size.height / statuses.length) }));
}

/** On what is no terminal: a line per migration, when anything in it has changed. */
function printChanged(run: Run, statuses: readonly MigrationStatus[], before: string): string {
  const lines = statuses.map((status) => summaryLine(status, run.paint));
  const text = lines.join("\n");
  if (text !== before && lines.length > 0) run.terminal.stdout.write(`${text}\n`);
  return text;
}

function hasEnded(status: MigrationStatus): boolean {
  return status.phase === "completed" || status.phase === "stopped" || status.phase === "failed";
}
