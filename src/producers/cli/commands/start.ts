/** `drover start`: preflight, then the command to the workers. */
import type { Command } from "commander";
import type { Phase } from "../../../shared/contracts/status.js";
import { problemLines } from "../format/problem-lines.js";
import { action, type Cli } from "../run.js";
import { readSpec } from "../spec-file.js";
import { painter } from "../terminal.js";

export function addStartCommand(program: Command, cli: Cli): void {
  program
    .command("start")
    .summary("start a migration")
    .description("Checks the spec and both servers as `check` does, then hands the migration to the workers.\nStarting the same spec again changes nothing; the same id with another spec is refused.")
    .argument("<spec>", "file of YAML or JSON, - for stdin")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExamples:\n  drover start shop.yaml\n  drover start - < shop.json && drover wait shop --for streaming")
    .action(
      action(cli, async (run, path: string) => {
        const result = await run.withClient(async (client) => client.startMigration(await readSpec(path, run.terminal.stdin), { preflight: true }));
        const paint = painter(run.terminal.stderr, run.terminal.environment);
        if (result.warnings.length > 0) run.note(problemLines(result.warnings, paint).join("\n"));
        if (result.known !== null) run.note(knownNote(result.id, result.known));
        if (!result.accepted) run.note("no worker is running yet: the command stays queued, and the first `drover worker` takes it up");
        run.print({ id: result.id }, () => [result.id]);
      }),
    );
}

/** The same spec again changes nothing; whoever meant something else must hear what to do. */
function knownNote(id: string, phase: Phase): string {
  const next: Partial<Record<Phase, string>> = {
    paused: `; \`drover resume ${id}\` goes on`,
    failed: `; \`drover status ${id}\` says why, \`drover resume ${id}\` goes on`,
    stopped: `; \`drover remove ${id}\` and start again to begin anew`,
    completed: `; \`drover remove ${id}\` and start again to begin anew`,
  };
  return `migration ${id} is there already with this very spec (${phase}): nothing was changed${next[phase] ?? ""}`;
}
