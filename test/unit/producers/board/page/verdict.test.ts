import { expect, test } from "vitest";
import { verdictOf } from "../../../../../src/producers/board/page/verdict.js";
import type { DiffReport, MigrationStatus } from "../../../../../src/producers/index.js";
import { diffReport, status } from "../../fixtures.js";

const NOW = Date.parse("2026-11-30T13:00:00.000Z");
const following = (changes: Partial<MigrationStatus> = {}) => status({ phase: "streaming", lagSeconds: 0.4, error: null, stuck: null, ...changes });
const failing = (of: MigrationStatus, diff: DiffReport | null) => verdictOf(of, diff, NOW).checks.filter((check) => !check.ok).map((check) => check.name);

test("safe: it follows, is close behind, has no error, and everything was compared and is equal", () => {
  expect(verdictOf(following(), diffReport({ hasMismatch: false, completedAt: "2026-11-30T12:58:00.000Z", tables: equal() }), NOW)).toMatchObject({ safe: true });
});

test.each(["planning", "copying", "catching-up", "completed", "paused", "stopped", "failed"] as const)("not safe while it is %s", (phase) => {
  expect(failing(following({ phase }), diffReport({ tables: equal() }))).toEqual(["phase"]);
});

test("each reason stands for itself", () => {
  const clean = diffReport({ tables: equal() });
  expect(failing(following({ lagSeconds: 11 }), clean)).toEqual(["lag"]);
  expect(failing(following({ lagSeconds: null }), clean)).toEqual(["lag"]);
  expect(failing(following({ error: { code: "CONNECTION_LOST", errno: null, sqlState: null, message: "gone", at: "2026-11-30T12:00:00.000Z", retries: 2 } }), clean)).toEqual(["trouble"]);
  expect(failing(following({ stuck: { since: "2026-11-30T12:00:00.000Z", reason: "no worker" } }), clean)).toEqual(["trouble"]);
  expect(failing(status({ phase: "paused", lagSeconds: null }), null)).toEqual(["phase", "lag", "diff"]);
});

test("a comparison counts only when it is there, complete, equal and of today", () => {
  const [table] = equal();
  expect(failing(following(), null)).toEqual(["diff"]);
  expect(failing(following(), diffReport({ tables: [{ ...table!, mismatched: 1 }] }))).toEqual(["diff"]);
  expect(failing(following(), diffReport({ tables: [{ ...table!, inconclusive: 2 }] }))).toEqual(["diff"]);
  expect(failing(following(), diffReport({ tables: [] }))).toEqual(["diff"]);
  expect(failing(following(), diffReport({ tables: equal(), limited: true }))).toEqual(["diff"]);
  expect(failing(following(), diffReport({ tables: equal(), completedAt: "2026-11-29T12:00:00.000Z" }))).toEqual(["diff"]);
});

/** Every table of the status, without a difference. */
function equal(): DiffReport["tables"] {
  return following().tables.map(({ source, target }) => ({ source, target, state: "completed" as const, rowsCompared: 10, matching: 10, mismatched: 0, missingOnTarget: 0, extraOnTarget: 0, inconclusive: 0, samples: [] }));
}
