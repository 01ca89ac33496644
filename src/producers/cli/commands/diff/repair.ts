/** `drover diff repair`. */
import type { Command } from "commander";
import type { RepairReport } from "../../../../shared/state/diff-repair-report.js";
import { durationArgument } from "../../arguments.js";
import { EXIT, type ExitCode } from "../../exit-codes.js";
import { repairLines } from "../../format/repair-lines.js";
import { action, type Cli } from "../../run.js";

export function addDiffRepair(diff: Command, cli: Cli): void {
  diff
    .command("repair")
    .summary("make the target equal the source where they differ")
    .description("Makes the target equal the source for the differences that a comparison confirmed; each row is looked at again before it is changed.\nExits with 1 when differences are left, with 3 when it failed.")
    .argument("<id>", "the migration")
    .argument("<diff>", "the comparison's id, or last")
    .option("--dry-run", "only say what would be changed")
    .option("--timeout <duration>", "wait at most this long for its end (default: no limit)", durationArgument)
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExamples:\n  drover diff repair shop last --dry-run\n  drover diff repair shop 20261201-101112-k3x9")
    .action(
      action(cli, async (run, id: string, diffId: string, options: { dryRun?: boolean; timeout?: number }) => {
        const report = await run.withClient((client) => client.repairDiff(id, diffId, { ...options, onNoWorker: run.onNoWorker }));
        run.print(report, (paint) => repairLines(report, paint));
        return exitCodeOfRepair(report);
      }),
    );
}

function exitCodeOfRepair(report: RepairReport): ExitCode {
  if (report.state === "failed") return EXIT.failed;
  return !report.dryRun && report.inconclusive + report.refused > 0 ? EXIT.differences : EXIT.done;
}
