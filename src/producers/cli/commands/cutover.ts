/** `drover cutover`: from the source to the target, and back if it fails. */
import type { Command } from "commander";
import type { CutoverOptionsInput, CutoverReport } from "../../../shared/contracts/cutover.js";
import { durationArgument } from "../arguments.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { cutoverLines } from "../format/cutover-lines.js";
import { action, type Cli } from "../run.js";

interface Options {
  dryRun?: boolean;
  abort?: boolean;
  timeout?: number;
  maxLag?: number;
  readOnly?: boolean;
  diff?: boolean;
  reverse?: string;
}

export function addCutoverCommand(program: Command, cli: Cli): void {
  program
    .command("cutover")
    .summary("move over to the target")
    .description(
      "Checks that everything is ready, and says at once what is not, each with its cure. Then waits until all that was committed on the source is applied, ends the\nfollow, creates what else the spec asks for (triggers, events), carries AUTO_INCREMENT counters, and ends the migration.\nWhat fails before the end, or is not done in time, is taken back: the source takes writes again, the target follows it.\nExits with 2 when something stands in the way, with 3 when it failed or left something to do, with 4 after the timeout.",
    )
    .argument("<id>", "the migration")
    .option("--dry-run", "say what would be done and what stands in the way; change nothing")
    .option("--timeout <duration>", "take it back when it is not done after this time (default: 60s)", durationArgument)
    .option("--max-lag <duration>", "do not begin while the target is further behind (default: 5s)", durationArgument)
    .option("--read-only", "make the source read-only, and leave it so when all is done")
    .option("--diff", "compare all tables once more before the end")
    .option("--reverse <id>", "then have the source follow the target, as a migration of this id")
    .option("--abort", "take back a cut-over that is under way")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExamples:\n  drover cutover shop --dry-run\n  drover cutover shop --read-only --timeout 2m\n  drover cutover shop --read-only --diff --reverse shop-back")
    .action(
      action(cli, async (run, id: string, options: Options) => {
        const { LiveView } = await import("../live-view.js");
        const view = new LiveView(run.terminal, "stderr");
        const onReport = (report: CutoverReport) => view.show((paint) => cutoverLines(report, paint));
        const report = await run.withClient(async (client) => {
          if (options.abort === true) return await client.abortCutover(id, { onNoWorker: run.onNoWorker });
          try {
            return await client.cutover(id, optionsOf(options), { dryRun: options.dryRun, onNoWorker: run.onNoWorker, onReport });
          } finally {
            view.clear();
          }
        });
        run.print(report, (paint) => cutoverLines(report, paint));
        return options.abort === true ? EXIT.done : exitCode(report);
      }),
    );
}

function optionsOf({ timeout, maxLag, readOnly, diff, reverse }: Options): CutoverOptionsInput {
  return {
    ...(timeout === undefined ? {} : { timeout: Math.ceil(timeout) }), ...(maxLag === undefined ? {} : { maxLag: Math.ceil(maxLag) }),
    readOnly: readOnly === true, diff: diff === true, reverse: reverse ?? null,
  };
}

function exitCode(report: CutoverReport): ExitCode {
  if (report.state === "checked") return report.ready ? EXIT.done : EXIT.usage;
  if (report.state === "failed") return report.error?.code === "TIMEOUT" ? EXIT.timeout : EXIT.failed;
  return report.left.length > 0 ? EXIT.failed : EXIT.done;
}
