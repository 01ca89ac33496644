/** `drover completion SHELL`, and the hidden command that its scripts call for every press of the key. */
import { Argument, type Command } from "commander";
import { loadConfig } from "../../../shared/config.js";
import type { DroverClient } from "../../client/drover-client.js";
import { candidates, type Candidate, type IdSource } from "../completion/candidates.js";
import { COMPLETE_COMMAND, SHELLS, completionScript, type Shell } from "../completion/scripts.js";
import { action, type Cli, type Run } from "../run.js";

/** Somebody waits with a finger on the key: ids that take longer are not offered (milliseconds). */
const PATIENCE = 1_500;

export function addCompletionCommands(program: Command, cli: Cli): void {
  program
    .command("completion")
    .summary("print a shell's completion script")
    .description("Prints a script that completes commands, options and the ids of migrations and diffs. Ids are asked of the targets, with a second's patience.")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .addHelpText("after", "\nExamples:\n  source <(drover completion bash)\n  source <(drover completion zsh)\n  drover completion fish | source")
    .action(
      action(cli, async (run, shell: Shell) => {
        run.terminal.stdout.write(`${completionScript(shell)}\n`);
      }),
    );
  program
    .command(COMPLETE_COMMAND, { hidden: true })
    .description("Prints what may come next on a command line, for the scripts of `completion`.")
    .argument("[words...]", "the line's words after the program's name")
    .addHelpText("after", `\nExample:\n  drover ${COMPLETE_COMMAND} -- status sh`)
    .action(
      action(cli, async (run, words: string[]) => {
        const found = await candidates(program, words, idSource(run));
        run.terminal.stdout.write(found.map(({ value, text }) => `${value}\t${text}\n`).join(""));
      }),
    );
}

function idSource(run: Run): IdSource {
  const ask = async (work: (client: DroverClient, signal: AbortSignal) => Promise<Candidate[]>): Promise<Candidate[]> => {
    try {
      // Without a setting there is no server to ask, and nothing to wait for.
      if (loadConfig(run.terminal.environment).connections.size === 0) return [];
      return await run.withClient((client) => work(client, AbortSignal.timeout(PATIENCE)));
    } catch {
      // A shell's completion is no place for messages.
      return [];
    }
  };
  return {
    migrations: () => ask(async (client, signal) => (await client.listMigrations({ signal })).migrations.map(({ id, phase }) => ({ value: id, text: phase }))),
    diffs: (migration) => ask(async (client, signal) => (await client.listDiffs(migration, { signal })).map(({ diffId, state }) => ({ value: diffId, text: state }))),
  };
}
