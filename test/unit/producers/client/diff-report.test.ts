import { describe, expect, test } from "vitest";
import { diffReport, keyText, type DiffRecords } from "../../../../src/producers/client/diff-report.js";
import { textRow } from "../../../../src/shared/columns/text-row.js";
import { diffOptions } from "../../../../src/shared/contracts/diff.js";
import type { DiffChunkTotals } from "../../../../src/shared/state/diff-chunks.js";
import type { DiffTable } from "../../../../src/shared/state/diff-tables.js";
import type { Diff } from "../../../../src/shared/state/diffs.js";
import type { MigrationTable } from "../../../../src/shared/state/tables.js";

const diff: Diff = {
  id: "d1", state: "running", options: diffOptions.parse({}), scheduled: false, attempts: 1, planFailures: 0, error: null, overdue: false,
  repairState: null, repair: null, progressAt: "p", startedAt: "s", completedAt: null,
};
const record: DiffTable = { number: 1, planned: true, plannedTo: null, nextNumber: 3, rowsPlanned: 1000, rowsEstimated: 1000, notes: [] };
const totals: DiffChunkTotals = { table: 1, chunks: 2, pending: 1, failed: 0, rowsPlanned: 1000, rowsDone: 400, rows: 400, matching: 399, mismatched: 1, missing: 0, extra: 0, inconclusive: 0 };
const column = (name: string, dataType: string, charset: string | null) => ({ name, dataType, charset, generated: null });
const table = {
  number: 1, source: { schema: "shop", table: "orders" }, target: { schema: "crm", table: "orders" },
  definition: { columns: [column("id", "int", null), column("code", "varchar", "latin1"), column("hash", "binary", null), column("name", "varchar", "utf8mb4")], key: { index: "PRIMARY", columns: ["id", "code", "hash", "name"] } },
} as unknown as MigrationTable;

function records(changes: { diff?: Partial<Diff>; totals?: Partial<DiffChunkTotals>; rate?: number | null } = {}): DiffRecords {
  const key = textRow([Buffer.from("42")]);
  const samples = [{ table: 1, chunk: 1, number: 0, kind: "missing" as const, key, columns: [], repaired: false }];
  return { migration: "shop", diff: { ...diff, ...changes.diff }, tables: [{ record, table, totals: { ...totals, ...changes.totals }, samples }], rowsPerSecond: changes.rate ?? null };
}

describe("a running diff", () => {
  test("counts, share, time left", () => {
    const report = diffReport(records({ rate: 200 }));
    expect(report).toMatchObject({ id: "shop", diffId: "d1", state: "running", hasMismatch: true, progress: { percent: 40, etaSeconds: 3 } });
    expect(report.tables).toEqual([
      { source: "shop.orders", target: "crm.orders", state: "running", rowsCompared: 400, matching: 399, mismatched: 1, missingOnTarget: 0, extraOnTarget: 0, inconclusive: 0, samples: [{ kind: "missingOnTarget", key: { id: "42" }, columns: [] }] },
    ]);
  });
  test("is not at 100 % before its end, and knows no time without a rate", () => {
    expect(diffReport(records({ totals: { rowsDone: 1000 } })).progress).toEqual({ percent: 99, etaSeconds: null });
  });
});

test("inconclusive rows are no mismatch", () => {
  expect(diffReport(records({ diff: { state: "completed" }, totals: { mismatched: 0, inconclusive: 3, pending: 0 } }))).toMatchObject({ hasMismatch: false, progress: { percent: 100, etaSeconds: 0 } });
});

test("a table's state", () => {
  const state = (changes: Parameters<typeof records>[0]) => diffReport(records(changes)).tables[0]?.state;
  expect(state({ totals: { failed: 1 } })).toBe("failed");
  expect(state({ totals: { pending: 0 } })).toBe("completed");
  expect(state({ totals: { pending: 2 } })).toBe("pending");
  expect(state({ diff: { state: "stopped" } })).toBe("stopped");
});

test("keys are text in the column's character set, and hex where there is none", () => {
  const key = textRow([Buffer.from("7"), Buffer.from([0x80, 0xe9]), Buffer.from([0xde, 0xad]), Buffer.from("注文")]);
  expect(keyText(key, table)).toEqual({ id: "7", code: "€é", hash: "0xdead", name: "注文" });
  expect(keyText(textRow([Buffer.from("7"), null]), undefined)).toEqual({ key1: "7", key2: "NULL" });
});
