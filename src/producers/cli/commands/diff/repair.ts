/** `drover diff repair`. */
import type { Command } from "commander";
import { action, type Cli } from "../../run.js";

export function addDiffRepair(diff: Command, cli: Cli): void {
  diff
    .command("repair")
    .summary("make the target equal the source where they differ")
    .description("Makes the target equal the source for the differences that a comparison confirmed; each row is looked at again before it is changed.")
    .argument("<id>", "the migration")
    .argument("<diff>", "the comparison's id")
    .option("--dry-run", "only say what would be changed")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExamples:\n  drover diff repair shop 20261201-101112-k3x9 --dry-run\n  drover diff repair shop 20261201-101112-k3x9")
    .action(
      action(cli, async (run, id: string, diffId: string, options: { dryRun?: boolean }) => {
        const report = await run.withClient((client) => client.repairDiff(id, diffId, { dryRun: options.dryRun === true }));
        run.print(report, () => [JSON.stringify(report, null, 2)]);
      }),
    );
}
