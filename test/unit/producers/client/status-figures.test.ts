import { describe, expect, test } from "vitest";
import { applyRate, etaSeconds, isStuck, lagSeconds, stuckReason, tableStatus } from "../../../../src/producers/client/status-figures.js";
import { DroverError } from "../../../../src/shared/errors.js";
import type { TableProgress } from "../../../../src/shared/state/tables.js";
import { NOW, UUID, fence, migration, tableProgress } from "../fixtures.js";

const error = { code: "CONNECTION_LOST", errno: 2013, sqlState: null, message: "SRC: gone", at: "x", retries: 3 };

describe("lag", () => {
  test("is 0 when everything that the source has is applied, however old it is", () => {
    expect(lagSeconds("streaming", fence({ sourceTime: NOW - 3_600_000 }), `${UUID}:1-100`, NOW)).toBe(0);
  });
  test("else the age of the latest applied transaction", () => {
    expect(lagSeconds("streaming", fence(), `${UUID}:1-140`, NOW)).toBe(0.4);
  });
  test("is unknown without the source's position, before the first batch, and before there is a fence", () => {
    expect(lagSeconds("streaming", fence(), null, NOW)).toBeNull();
    expect(lagSeconds("streaming", fence({ sourceTime: 0 }), `${UUID}:1-140`, NOW)).toBeNull();
    expect(lagSeconds("streaming", null, `${UUID}:1-140`, NOW)).toBeNull();
  });
  test.each(["stopped", "completed"] as const)("is none of a migration that is %s: it would grow for ever", (phase) => {
    expect(lagSeconds(phase, fence(), `${UUID}:1-140`, NOW)).toBeNull();
  });
  test("is never negative when the clocks differ", () => {
    expect(lagSeconds("streaming", fence({ sourceTime: NOW + 5_000 }), `${UUID}:1-140`, NOW)).toBe(0);
  });
});

test("time left goes by the rows left and the rate of now", () => {
  expect(etaSeconds(migration(), [tableProgress()], 38_000)).toBe(10);
  expect(etaSeconds(migration(), [tableProgress()], 0)).toBeNull();
  expect(etaSeconds(migration({ phase: "planning" }), [], 100)).toBeNull();
  expect(etaSeconds(migration({ phase: "streaming", copiedAt: "2026-12-01T11:00:00.000Z" }), [], 0)).toBe(0);
});

test("an apply rate of long ago is not one of now", () => {
  expect(applyRate(fence(), NOW)).toBe(900);
  expect(applyRate(fence(), NOW + 11_000)).toBe(0);
  expect(applyRate(null, NOW)).toBe(0);
});

describe("stuck", () => {
  const later = NOW + 16_000;
  test("not before 15 s without progress, nor in a phase without work", () => {
    expect(isStuck(migration(), false, NOW + 14_000)).toBe(false);
    expect(isStuck(migration(), false, later)).toBe(true);
    expect(isStuck(migration({ phase: "paused" }), false, later)).toBe(false);
  });
  test("nothing to apply is no standstill", () => {
    expect(isStuck(migration({ phase: "streaming" }), true, later)).toBe(false);
    expect(isStuck(migration({ phase: "streaming" }), false, later)).toBe(true);
    expect(isStuck(migration({ phase: "streaming", error }), true, later)).toBe(true);
  });
  test("the reason: Redis before the last error before a missing worker", () => {
    const redis = new DroverError("REDIS_UNAVAILABLE", "Redis does not answer");
    expect(stuckReason(migration({ error }), redis, false)).toBe("Redis does not answer");
    expect(stuckReason(migration({ error }), null, true)).toBe("CONNECTION_LOST: SRC: gone");
    expect(stuckReason(migration(), null, false)).toContain("no worker is processing migration shop");
    expect(stuckReason(migration(), null, true)).toContain("a worker is running");
  });
});

test("a table's rows: the estimate gives way to what was copied", () => {
  const table = { source: { schema: "a", table: "t" }, target: { schema: "b", table: "u" }, phase: "copying", rowsEstimated: 100 } as TableProgress;
  const totals = { table: 1, total: 4, done: 3, rows: 150, bytes: 0 };
  expect(tableStatus(table, totals)).toEqual({ source: "a.t", target: "b.u", phase: "copying", rowsCopied: 150, rowsEstimated: 150, chunksDone: 3, chunksTotal: 4 });
  expect(tableStatus({ ...table, phase: "copied", rowsEstimated: 1000 }, totals).rowsEstimated).toBe(150);
  expect(tableStatus({ ...table, phase: "pending" }, undefined)).toMatchObject({ phase: "planning", rowsCopied: 0, rowsEstimated: 100 });
});
