import { expect, test } from "vitest";
import { diffLines, diffTable } from "../../../../../src/producers/cli/format/diff-lines.js";
import { diffReport, diffTableReport } from "../../fixtures.js";

const plain = (_style: unknown, text: string) => text;

test("a verdict, counts per table, samples by key and column", () => {
  const samples = [{ kind: "mismatched" as const, key: { id: "42", lang: "de" }, columns: ["total"] }, { kind: "missingOnTarget" as const, key: { id: "7" }, columns: [] }];
  const lines = diffLines(diffReport({ hasMismatch: true, tables: [diffTableReport({ mismatched: 1, missingOnTarget: 1, samples })] }), plain);
  expect(lines[0]).toBe("d1  completed  ·  different");
  expect(lines[2]).toMatch(/^ {2}shop\.orders +completed +1,000 +1,000 +1 +1 +0 +0$/);
  expect(lines[3]).toBe("  mismatched shop.orders (id=42, lang=de): total");
  expect(lines[4]).toBe("  missingOnTarget shop.orders (id=7)");
});

test("equal, and equal but for rows that kept changing", () => {
  expect(diffLines(diffReport(), plain)[0]).toContain("equal");
  expect(diffLines(diffReport({ tables: [diffTableReport({ inconclusive: 2 })] }), plain)[0]).toContain("equal, but 2 rows kept changing");
});

test("in progress, and failed", () => {
  expect(diffLines(diffReport({ state: "running", completedAt: null, progress: { percent: 40, etaSeconds: 12 } }), plain)[0]).toMatch(/running .*40 % .*12 s left/);
  const lastError = { code: "CONNECTION_LOST", errno: null, sqlState: null, message: "DST: gone", at: "x", retries: 5 };
  expect(diffLines(diffReport({ state: "failed", lastError }), plain).at(-1)).toContain("DST: gone");
  expect(diffTable([diffReport()], plain)[1]).toMatch(/^d1 +completed +equal +1,000 /);
});
