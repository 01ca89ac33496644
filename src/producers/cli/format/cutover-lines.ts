/** A cut-over, for people. */
import type { CutoverReport } from "../../../shared/contracts/cutover.js";
import type { Paint } from "../terminal.js";
import { problemLines } from "./problem-lines.js";

const MARKS = { done: "✓", running: "▶", pending: "·" } as const;

export function cutoverLines(report: CutoverReport, paint: Paint): string[] {
  const lines = [paint("bold", `cut-over of ${report.id}: ${headline(report)}`), ...problemLines(report.problems, paint)];
  for (const { does, state } of report.plan) {
    const mark = report.state === "failed" ? MARKS.pending : MARKS[state];
    lines.push(`${paint(mark === "✓" ? "green" : mark === "▶" ? "cyan" : "dim", mark)} ${does}`);
  }
  if (report.error !== null) lines.push(paint(report.state === "running" ? "yellow" : "red", `${report.state === "running" ? "being tried again" : "why"}: ${report.error.message}`));
  if (report.readOnly !== null && report.state !== "completed") lines.push(report.readOnly.undone ? "the source takes writes again" : "the source is read-only, set by Drover");
  lines.push(...report.left.map((what) => paint("red", `✗ ${what}`)));
  lines.push(...report.notes.map((note) => `${paint("yellow", "!")} ${note}`));
  lines.push(...report.next.map((step) => `${paint("green", "→")} ${step}`));
  return lines;
}

function headline({ state, ready }: CutoverReport): string {
  switch (state) {
    case "checked": return ready ? "ready" : "not ready";
    case "running": return "under way";
    case "undoing": return "being taken back";
    case "completed": return "done";
    case "failed": return "failed, and taken back";
  }
}
