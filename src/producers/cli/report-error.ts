/** How an error is shown: one message with every problem and its cure; no stack unless somebody debugs. */
import { CommanderError } from "commander";
import { DroverError } from "../../shared/errors.js";
import { encodedErrorOf } from "../../shared/job-error.js";
import { problemLines } from "./format/problem-lines.js";
import { painter, type Terminal } from "./terminal.js";

/** @param json the command was given `--json`: stdout gets the error as its one document */
export function reportError(error: unknown, terminal: Terminal, json: boolean): void {
  if (error instanceof CommanderError) {
    // Commander has printed its own message, or the help that was asked for; a program that reads stdout finds the error there.
    if (json && error.exitCode !== 0) printJson(usageError(error), terminal);
    return;
  }
  if (json) printJson(error, terminal);
  const paint = painter(terminal.stderr, terminal.environment);
  terminal.stderr.write(`${paint("red", "error:")} ${errorLines(error, paint).join("\n")}\n`);
  const level = terminal.environment["DROVER_LOG_LEVEL"];
  if ((level === "debug" || level === "trace") && error instanceof Error) terminal.stderr.write(`${stackOf(error)}\n`);
}

/** Commander's second line says what may have been meant. */
function usageError({ message }: CommanderError): DroverError {
  const [first = "", second = ""] = message.replace(/^error: /, "").split("\n");
  const meant = /^\((Did you mean .*)\)$/.exec(second)?.[1];
  return new DroverError("USAGE_INVALID", first, { cure: `${meant === undefined ? "" : `${meant} `}\`drover COMMAND --help\` tells how` });
}

function printJson(error: unknown, terminal: Terminal): void {
  terminal.stdout.write(`${JSON.stringify({ error: encodedErrorOf(error) }, null, 2)}\n`);
}

function errorLines(error: unknown, paint: ReturnType<typeof painter>): string[] {
  if (!(error instanceof DroverError)) return [`unexpected: ${error instanceof Error ? error.message : String(error)}`, "  set DROVER_LOG_LEVEL=debug to see where"];
  if (error.problems.length === 0) return [`${error.message} ${paint("dim", `[${error.code}]`)}`, ...(error.cure === undefined ? [] : [`  ${paint("green", "→")} ${error.cure}`])];
  // The message of a validation lists its problems; they follow, each with its cure.
  const headline = error.code === "SPEC_INVALID" ? error.message.replace(/: .*$/s, "") : error.message;
  return [`${headline} ${paint("dim", `[${error.code}]`)}`, ...problemLines(error.problems, paint)];
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackOf(error.cause)}` : "";
  return `${error.stack ?? error.message}${cause}`;
}
