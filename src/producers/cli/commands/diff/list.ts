/** `drover diff list`. */
import type { Command } from "commander";
import { diffTable } from "../../format/diff-lines.js";
import { action, type Cli } from "../../run.js";

export function addDiffList(diff: Command, cli: Cli): void {
  diff
    .command("list")
    .summary("list the comparisons of a migration")
    .description("Lists the comparisons of a migration, newest first.")
    .argument("<id>", "the migration")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample:\n  drover diff list shop")
    .action(
      action(cli, async (run, id: string) => {
        const reports = await run.withClient((client) => client.listDiffs(id));
        run.print(reports, (paint) => diffTable(reports, paint));
      }),
    );
}
