/** `drover diff show`. */
import type { Command } from "commander";
import { diffLines } from "../../format/diff-lines.js";
import { action, type Cli } from "../../run.js";
import { verdict } from "./verdict.js";

export function addDiffShow(diff: Command, cli: Cli): void {
  diff
    .command("show")
    .summary("show a comparison's result")
    .description("Shows how far a comparison is and what it found: counts per table, and samples that name keys and columns (values only with --show-values).\nExits with 1 when it found differences, with 3 when it failed.")
    .argument("<id>", "the migration")
    .argument("[diff]", "the comparison's id, or last", "last")
    .option("--show-values", "also the sampled rows' values, read from both servers now")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExamples:\n  drover diff show shop\n  drover diff show shop last --json")
    .action(
      action(cli, async (run, id: string, diffId: string, options: { showValues?: boolean }) => {
        const report = await run.withClient((client) => client.showDiff(id, diffId, { showValues: options.showValues }));
        run.print(report, (paint) => diffLines(report, paint));
        return verdict(report);
      }),
    );
}
