import { CommanderError } from "commander";
import { expect, test } from "vitest";
import { exitCodeOf } from "../../../../src/producers/cli/exit-codes.js";
import { DroverError, type ErrorCode } from "../../../../src/shared/errors.js";

test.each<[ErrorCode, number]>([
  ["SPEC_INVALID", 2], ["CONFIG_INVALID", 2], ["PREFLIGHT_FAILED", 2], ["NOT_FOUND", 2], ["MIGRATION_CONFLICT", 2], ["WRONG_PHASE", 2],
  ["CONNECTION_LOST", 2], ["REDIS_UNAVAILABLE", 2], ["STATEMENT_REFUSED", 2],
  ["MIGRATION_FAILED", 3], ["DIFF_FAILED", 3], ["BUG", 3], ["NO_ANSWER", 4], ["TIMEOUT", 4],
])("%s ends with %i", (code, exit) => expect(exitCodeOf(new DroverError(code, "x"))).toBe(exit));

test("commander's errors are usage errors; its help is none", () => {
  expect(exitCodeOf(new CommanderError(1, "commander.unknownOption", "x"))).toBe(2);
  expect(exitCodeOf(new CommanderError(0, "commander.helpDisplayed", "x"))).toBe(0);
});
