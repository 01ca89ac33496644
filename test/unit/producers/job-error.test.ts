import { expect, test } from "vitest";
import { DroverError, MAX_ERROR_MESSAGE } from "../../../src/shared/errors.js";
import { decodeJobError, encodeJobError } from "../../../src/shared/job-error.js";

test("an error survives the way through failedReason", () => {
  const problems = [{ code: "tables.0.colour", message: 'unknown key "tables.0.colour"', cure: "remove it" }];
  const sent = new DroverError("SPEC_INVALID", "the migration spec is not valid", { cure: "see the README", problems, errno: 1146, sqlState: "42S02" });
  const received = decodeJobError(encodeJobError(sent));
  expect(received).toBeInstanceOf(DroverError);
  expect(received).toMatchObject({ code: "SPEC_INVALID", message: sent.message, cure: "see the README", problems, errno: 1146, sqlState: "42S02" });
});

test("what is no error of ours is a BUG with its message, without its stack", () => {
  const text = encodeJobError(new TypeError("x is not a function"));
  expect(text).not.toContain("    at ");
  expect(decodeJobError(text)).toMatchObject({ code: "BUG", message: "x is not a function" });
});

test("BullMQ's own reasons and codes of another version are understood", () => {
  expect(decodeJobError("job stalled more than allowable limit")).toMatchObject({ code: "BUG", message: "job stalled more than allowable limit" });
  const other = encodeJobError(new DroverError("BUG", "later")).replace('"BUG"', '"FROM_THE_FUTURE"');
  expect(decodeJobError(other)).toMatchObject({ code: "BUG", message: "later" });
});

test("it is bounded", () => {
  const problems = Array.from({ length: 1000 }, (_, i) => ({ code: `c${i}`, message: "m".repeat(5000), cure: "c".repeat(5000) }));
  const received = decodeJobError(encodeJobError(new DroverError("PREFLIGHT_FAILED", "x".repeat(50_000), { problems })));
  expect(received.message).toHaveLength(MAX_ERROR_MESSAGE);
  expect(received.problems).toHaveLength(100);
  expect(received.problems[0]?.message).toHaveLength(MAX_ERROR_MESSAGE);
});
