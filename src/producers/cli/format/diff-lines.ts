/** A diff's report for people. */
import type { DiffReport, DiffSample, DiffTableReport } from "../../../shared/contracts/diff.js";
import type { Paint } from "../terminal.js";
import { count, seconds } from "./numbers.js";
import { progressBar } from "./progress-bar.js";
import { textTable } from "./text-table.js";

export function diffLines(report: DiffReport, paint: Paint): string[] {
  const header = ["  TABLE", "STATE", "COMPARED", "EQUAL", "MISMATCHED", "MISSING", "EXTRA", "INCONCLUSIVE"].map((cell) => paint("dim", cell));
  const figure = (value: number) => (value === 0 ? "0" : paint("red", count(value)));
  const rows = report.tables.map((t) => [
    `  ${t.source === t.target ? t.source : `${t.source} → ${t.target}`}`, t.state, count(t.rowsCompared), count(t.matching),
    figure(t.mismatched), figure(t.missingOnTarget), figure(t.extraOnTarget), figure(t.inconclusive),
  ]);
  const table = rows.length === 0 ? [] : textTable(header, rows, ["left", "left", "right", "right", "right", "right", "right", "right"]);
  return [headline(report, paint), ...table, ...report.tables.flatMap((t) => [...sampleLines(t, paint), ...noteLines(t, paint)]), ...errorLines(report, paint)];
}

/** One line per diff. */
export function diffTable(reports: readonly DiffReport[], paint: Paint): string[] {
  if (reports.length === 0) return ["no diffs"];
  const header = ["DIFF", "STATE", "RESULT", "COMPARED", "STARTED", "COMPLETED"].map((cell) => paint("dim", cell));
  const rows = reports.map((r) => [r.diffId, r.state, verdict(r, paint), count(sum(r, "rowsCompared")), r.startedAt, r.completedAt ?? "–"]);
  return textTable(header, rows, ["left", "left", "left", "right"]);
}

function headline(report: DiffReport, paint: Paint): string {
  const parts = [`${paint("bold", report.diffId)}  ${report.state}`, verdict(report, paint)];
  if (report.state === "running" || report.state === "pending")
    parts.push(`${paint("cyan", progressBar(report.progress.percent / 100, 20))} ${report.progress.percent} %`, `${seconds(report.progress.etaSeconds)} left`);
  return parts.filter((part) => part !== "").join("  ·  ");
}

function verdict(report: DiffReport, paint: Paint): string {
  if (report.hasMismatch) return paint("red", "different");
  if (report.state !== "completed") return "";
  const inconclusive = sum(report, "inconclusive");
  return inconclusive > 0 ? paint("yellow", `equal, but ${count(inconclusive)} rows kept changing`) : paint("green", "equal");
}

function sampleLines(table: DiffTableReport, paint: Paint): string[] {
  return table.samples.flatMap((sample) => {
    const key = Object.entries(sample.key).map(([name, value]) => `${name}=${value}`).join(", ");
    const columns = sample.columns.length > 0 ? `: ${sample.columns.join(", ")}` : "";
    return [`  ${paint("red", sample.kind)} ${table.source} (${key})${columns}`, ...valueLines(sample)];
  });
}

function valueLines({ values, columns }: DiffSample): string[] {
  if (values === undefined) return [];
  const side = (name: string, row: Record<string, string | null> | null) =>
    row === null ? `    ${name}: no row` : `    ${name}: ${Object.entries(row).filter(([column]) => columns.length === 0 || columns.includes(column)).map(([column, value]) => `${column}=${value ?? "NULL"}`).join(", ")}`;
  return [side("source", values.source), side("target", values.target)];
}

function noteLines(table: DiffTableReport, paint: Paint): string[] {
  return (table.notes ?? []).map((note) => `  ${paint("yellow", "!")} ${table.source}: ${note}`);
}

function errorLines(report: DiffReport, paint: Paint): string[] {
  const error = report.lastError;
  return error === null || report.state === "completed" ? [] : [`  ${paint("red", "✗")} ${error.message} ${paint("dim", `[${error.code}]`)} at ${error.at}`];
}

function sum(report: DiffReport, figure: "rowsCompared" | "inconclusive"): number {
  return report.tables.reduce((total, table) => total + table[figure], 0);
}
