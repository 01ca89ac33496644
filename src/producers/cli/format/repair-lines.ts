/** A repair's report for people. */
import type { RepairReport } from "../../../shared/state/diff-repair-report.js";
import type { Paint } from "../terminal.js";
import { count } from "./numbers.js";

export function repairLines(report: RepairReport, paint: Paint): string[] {
  const done = report.dryRun ? `${count(report.actions.length + report.actionsLeftOut)} rows would be repaired` : `${count(report.repaired)} rows repaired`;
  const rest = [
    report.equal > 0 ? `${count(report.equal)} were equal by now` : "",
    report.inconclusive > 0 ? paint("yellow", `${count(report.inconclusive)} kept changing`) : "",
    report.refused > 0 ? paint("red", `${count(report.refused)} were refused by the target`) : "",
  ].filter((part) => part !== "");
  const actions = report.actions.map(({ table, action, key }) => `  ${action} ${table} (${Object.entries(key).map(([name, value]) => `${name}=${value}`).join(", ")})`);
  const more = report.actionsLeftOut > 0 ? [paint("dim", `  … and ${count(report.actionsLeftOut)} more`)] : [];
  const error = report.error === null ? [] : [`  ${paint("red", "✗")} ${report.error.message} ${paint("dim", `[${report.error.code}]`)}`];
  const again = report.dryRun || report.repaired === 0 || report.state === "running" ? [] : [`${paint("green", "→")} compare again: drover diff start ${report.id} --wait`];
  return [`${paint("bold", report.diffId)}  ${report.state}  ·  ${[done, ...rest].join(", ")}`, ...actions, ...more, ...error, ...again];
}
