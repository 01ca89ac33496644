import { expect, test } from "vitest";
import { repairLines } from "../../../../../src/producers/cli/format/repair-lines.js";
import type { RepairReport } from "../../../../../src/shared/state/diff-repair-report.js";

const report: RepairReport = { id: "shop", diffId: "d1", dryRun: false, state: "completed", repaired: 2, equal: 0, inconclusive: 0, refused: 0, actions: [], actionsLeftOut: 0, error: null, startedAt: "", completedAt: null };

test("what was repaired is to be compared again; what would be is not", () => {
  const lines = (changes: Partial<RepairReport> = {}) => repairLines({ ...report, ...changes }, (_style, text) => text).join("\n");
  expect(lines()).toContain("compare again: drover diff start shop --wait");
  for (const changes of [{ dryRun: true }, { repaired: 0 }, { state: "running" as const }]) expect(lines(changes)).not.toContain("compare again");
});
