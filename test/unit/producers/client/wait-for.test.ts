import { describe, expect, test } from "vitest";
import { reached } from "../../../../src/producers/client/wait-for.js";
import { UUID, status, tableProgress } from "../fixtures.js";

const MARK = `${UUID}:1-120`;
const at = (position: string) => ({ position: { applied: position, source: null } });

describe("copied", () => {
  test.each(["catching-up", "streaming", "completed"] as const)("is true in %s", (phase) => expect(reached(status({ phase }), "copied", null)).toBe(true));
  test("not while copying, nor paused in the middle; paused after it is", () => {
    expect(reached(status(), "copied", null)).toBe(false);
    expect(reached(status({ phase: "paused" }), "copied", null)).toBe(false);
    expect(reached(status({ phase: "paused", tables: [tableProgress({ phase: "copied" })] }), "copied", null)).toBe(true);
  });
});

describe("caught-up", () => {
  test("when the fence covers the source's position of the call", () => {
    expect(reached(status({ phase: "streaming", ...at(`${UUID}:1-119`) }), "caught-up", MARK)).toBe(false);
    expect(reached(status({ phase: "streaming", ...at(`${UUID}:1-120`) }), "caught-up", MARK)).toBe(true);
    expect(reached(status({ phase: "catching-up", ...at(`${UUID}:1-500`) }), "caught-up", MARK)).toBe(true);
  });
  test("not while rows are still being copied, whatever the fence says", () => {
    expect(reached(status({ phase: "copying", ...at(`${UUID}:1-500`) }), "caught-up", MARK)).toBe(false);
  });
  test("not before the source's position is known", () => {
    expect(reached(status({ phase: "streaming" }), "caught-up", null)).toBe(false);
  });
});

describe("never", () => {
  const error = { code: "BINLOG_PURGED", errno: 1236, sqlState: "HY000", message: "SRC: purged", at: "x", retries: 1 };
  test("when it failed: with the reason", () => {
    expect(reached(status({ phase: "failed", error }), "streaming", null)).toMatchObject({ code: "MIGRATION_FAILED", message: expect.stringContaining("SRC: purged") });
    expect(reached(status({ phase: "failed", error }), "stopped", null)).toBe(false);
  });
  test("when it was stopped, or a copy is completed and will not stream", () => {
    expect(reached(status({ phase: "stopped" }), "copied", null)).toMatchObject({ code: "MIGRATION_FAILED" });
    expect(reached(status({ phase: "completed" }), "streaming", null)).toMatchObject({ code: "WRONG_PHASE" });
  });
});

test("stopped is what works no more", () => {
  expect(reached(status({ phase: "stopped" }), "stopped", null)).toBe(true);
  expect(reached(status({ phase: "paused" }), "stopped", null)).toBe(false);
});
