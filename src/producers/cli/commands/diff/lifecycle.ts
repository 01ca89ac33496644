/** `drover diff stop`, `resume` and `delete`. */
import type { Command } from "commander";
import { diffLines } from "../../format/diff-lines.js";
import { action, type Cli } from "../../run.js";

export function addDiffLifecycle(diff: Command, cli: Cli): void {
  const add = (name: string, description: string) =>
    diff
      .command(name)
      .description(description)
      .argument("<id>", "the migration")
      .argument("<diff>", "the comparison's id, or last")
      .option("--json", "print one JSON document")
      .addHelpText("after", `\nExamples:\n  drover diff ${name} shop last\n  drover diff ${name} shop 20261201-101112-k3x9`);

  add("stop", "stop a comparison; what it has found so far is kept").action(
    action(cli, async (run, id: string, diffId: string) => {
      const report = await run.withClient((client) => client.stopDiff(id, diffId, { onNoWorker: run.onNoWorker }));
      run.print(report, (paint) => diffLines(report, paint));
    }),
  );
  add("resume", "go on with a stopped or failed comparison where it stood").action(
    action(cli, async (run, id: string, diffId: string) => {
      const report = await run.withClient((client) => client.resumeDiff(id, diffId, { onNoWorker: run.onNoWorker }));
      run.print(report, (paint) => diffLines(report, paint));
    }),
  );
  add("delete", "forget a comparison").action(
    action(cli, async (run, id: string, diffId: string) => {
      const deleted = await run.withClient((client) => client.deleteDiff(id, diffId, { onNoWorker: run.onNoWorker }));
      run.print(deleted, () => [`${deleted.diffId}: deleted`]);
    }),
  );
}
