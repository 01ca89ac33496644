import { expect, test } from "vitest";
import { cutoverOptions, type CutoverOptionsInput, type ReadOnlyBefore } from "../../src/shared/contracts/cutover.js";
import { cutoverReportOf } from "../../src/shared/state/cutover-report.js";
import type { Cutover } from "../../src/shared/state/cutovers.js";
import { migration } from "./producers/fixtures.js";

function next(options: CutoverOptionsInput, readOnlyBefore: ReadOnlyBefore | null): string {
  const facts = { readOnlyBefore, readOnlyUndone: false, sourcePosition: "", diffId: null, stopped: true, targetPosition: "", findings: [], notes: [], left: [], undoError: null };
  const cutover: Cutover = { options: cutoverOptions.parse(options), state: "completed", step: "reverse", facts, error: null, overdue: false, startedAt: "", deadline: "", completedAt: "" };
  return cutoverReportOf(migration().spec, cutover).next.join("\n");
}

test("what is said of the source's switches is what they are", () => {
  const before = { readOnly: false, superReadOnly: false };
  expect(next({ readOnly: true }, before)).toContain("SRC stays read-only; to lift it: SET GLOBAL super_read_only=OFF, read_only=OFF");
  expect(next({ readOnly: true }, { readOnly: false, superReadOnly: null })).toContain("to lift it: SET GLOBAL read_only=OFF");
  const back = next({ readOnly: true, reverse: "back" }, before);
  expect(back).toContain("super_read_only is OFF, because back writes there");
  expect(back).toContain("do not lift read_only before");
  expect(back).not.toContain("to lift it");
});
