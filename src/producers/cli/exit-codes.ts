/** The exit codes of the contract, and which error ends with which. */
import { CommanderError } from "commander";
import { DroverError } from "../../shared/errors.js";

export const EXIT = {
  done: 0,
  /** A diff found differences. */
  differences: 1,
  /** Bad usage, settings, spec or preflight; a server or Redis that cannot be reached. */
  usage: 2,
  /** The migration or the diff failed. */
  failed: 3,
  timeout: 4,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export function exitCodeOf(error: unknown): ExitCode {
  // `--help` and `--version` end commander in the same way as a wrong option does.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  if (!(error instanceof DroverError)) return EXIT.failed;
  if (error.code === "NO_ANSWER" || error.code === "TIMEOUT") return EXIT.timeout;
  // Retryable here means that a server or Redis does not answer at all: nothing has begun, and the setting may be wrong.
  return error.kind === "config" || error.kind === "retryable" || error.code === "STATEMENT_REFUSED" ? EXIT.usage : EXIT.failed;
}
