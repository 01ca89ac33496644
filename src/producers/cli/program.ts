/** The command line: `drover COMMAND …`, one command per file in `commands/`. */
import { readFileSync } from "node:fs";
import { Command } from "commander";
import { addBoardCommand } from "./commands/board.js";
import { addCheckCommand } from "./commands/check.js";
import { addCompletionCommands } from "./commands/completion.js";
import { addCutoverCommand } from "./commands/cutover.js";
import { addDiffCommands } from "./commands/diff.js";
import { addGrantsCommand } from "./commands/grants.js";
import { addInitCommand } from "./commands/init.js";
import { addLifecycleCommands } from "./commands/lifecycle.js";
import { addStartCommand } from "./commands/start.js";
import { addStatusCommand } from "./commands/status.js";
import { addWaitCommand } from "./commands/wait.js";
import { addWorkerCommand } from "./commands/worker.js";
import { CONFIG_VARIABLE, SETTINGS, type Setting } from "../../shared/settings.js";
import { exitCodeOf, type ExitCode } from "./exit-codes.js";
import { reportError } from "./report-error.js";
import type { Cli } from "./run.js";
import type { Terminal } from "./terminal.js";

const SETTINGS_HELP = `
Settings (environment, or the file that DROVER_CONFIG names):
${[...Object.values(SETTINGS), CONFIG_VARIABLE].map(settingLine).join("\n")}

Exit codes: 0 done; 1 a diff found differences; 2 bad usage, spec or preflight; 3 the migration or diff failed; 4 timeout.`;

/** Runs one command line; returns its exit code. @param args without the program's name */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const cli: Cli = { terminal, exitCode: 0 };
  try {
    await buildProgram(cli).parseAsync([...args], { from: "user" });
    return cli.exitCode;
  } catch (error) {
    reportError(error, terminal, args.includes("--json"));
    return exitCodeOf(error);
  }
}

function buildProgram(cli: Cli): Command {
  const { stdout, stderr } = cli.terminal;
  const program = new Command("drover")
    .description("Moves MySQL tables between live servers: full copy, binlog follow and diff.")
    .version(version(), "-V, --version")
    // Usage errors come here as exceptions, and subcommands inherit it: commander's own exit code would be 1.
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .showHelpAfterError("(--help says more)")
    .addHelpText("after", SETTINGS_HELP);
  addInitCommand(program, cli);
  addGrantsCommand(program, cli);
  addCheckCommand(program, cli);
  addStartCommand(program, cli);
  addStatusCommand(program, cli);
  addWaitCommand(program, cli);
  addLifecycleCommands(program, cli);
  addDiffCommands(program, cli);
  addCutoverCommand(program, cli);
  addWorkerCommand(program, cli);
  addBoardCommand(program, cli);
  addCompletionCommands(program, cli);
  return program;
}

function settingLine({ variable, meaning, fallback }: Setting): string {
  return `  ${variable.padEnd(26)}  ${meaning}${fallback === null ? "" : ` (${fallback})`}`;
}

function version(): string {
  const file = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  return (JSON.parse(file) as { version: string }).version;
}
