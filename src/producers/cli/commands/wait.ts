/** `drover wait`: until a migration has reached a phase. */
import { Option, type Command } from "commander";
import type { MigrationStatus } from "../../../shared/contracts/status.js";
import { WAIT_PHASES, type WaitPhase } from "../../../shared/contracts/wait.js";
import { durationArgument } from "../arguments.js";
import { exitCodeOf, EXIT } from "../exit-codes.js";
import { statusLines } from "../format/status-lines.js";
import { reportError } from "../report-error.js";
import { action, type Cli, type Run } from "../run.js";

export function addWaitCommand(program: Command, cli: Cli): void {
  program
    .command("wait")
    .summary("wait until a migration has reached a phase")
    .description(
      "Waits, and prints the status reached:\n  copied     all rows are on the target\n  streaming  and it follows the source\n  caught-up  everything that was committed on the source when the wait began is applied\n  stopped    it has ended for good\nExits with 3 when the migration fails meanwhile, with 4 after the timeout.",
    )
    .argument("<id>", "the migration")
    .addOption(new Option("--for <phase>", "what to wait for").choices(WAIT_PHASES).makeOptionMandatory())
    .option("--timeout <duration>", "at most this long, such as 60s (default: no limit)", durationArgument)
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExamples:\n  drover wait shop --for streaming\n  drover wait shop --for caught-up --timeout 60s --json")
    .action(
      action(cli, async (run, id: string, options: { for: WaitPhase; timeout?: number }) => {
        const { LiveView } = await import("../live-view.js");
        const view = new LiveView(run.terminal, "stderr");
        let latest: MigrationStatus | undefined;
        const onStatus = (status: MigrationStatus) => {
          // Whoever waits for what stands still must know: at once, and when it happens later.
          if (!view.isLive && status.phase !== latest?.phase) tellStanding(run, status);
          latest = status;
          view.show((paint, size) => statusLines(status, paint, size));
        };
        try {
          const status = await run.withClient((client) => client.waitFor(id, options.for, { timeout: options.timeout, onStatus }));
          view.clear();
          run.print(status, (paint) => statusLines(status, paint, run.size));
          return EXIT.done;
        } catch (error) {
          view.clear();
          if (latest === undefined) throw error;
          // The result of a wait is the status, also of one that did not get there.
          const last = latest;
          run.print(last, (paint) => statusLines(last, paint, run.size));
          reportError(error, run.terminal, false);
          return exitCodeOf(error);
        }
      }),
    );
}

function tellStanding(run: Run, { id, phase }: MigrationStatus): void {
  if (phase === "paused") run.note(`${id} is paused; \`drover resume ${id}\` goes on. Waiting for that`);
  // Only `--for stopped` waits on: another wait has failed by then.
  if (phase === "failed") run.note(`${id} has failed; \`drover resume ${id}\` goes on, \`drover stop ${id}\` ends it for good. Waiting for that`);
}
