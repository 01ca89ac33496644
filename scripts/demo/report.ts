/** The demo's last word, for people. */
import { count } from "../../src/producers/cli/format/numbers.js";
import { textTable } from "../../src/producers/cli/format/text-table.js";
import type { DiffReport } from "../../src/producers/index.js";
import { isEqual, type TableComparison } from "./compare.js";
import { median, type MoveFigures } from "./move.js";
import type { KillFigures } from "./victim.js";

export interface ReportInput {
  move: MoveFigures;
  comparison: readonly TableComparison[];
  comparisonSeconds: number;
  servers: string;
  totalSeconds: number;
}

/** Drover's diff says so, and so does the comparison that knows nothing of Drover. */
export function isSuccess({ move, comparison }: Pick<ReportInput, "move" | "comparison">): boolean {
  return comparison.length > 0 && comparison.every(isEqual) && !move.diff.hasMismatch;
}

export function reportLines(input: ReportInput): string[] {
  const { move, comparison } = input;
  const rows = move.status.tables.reduce((sum, table) => sum + table.rowsCopied, 0);
  const chunks = move.status.tables.reduce((sum, table) => sum + table.chunksDone, 0);
  const { application } = move;
  const entries: [string, string[]][] = [
    ["servers", [input.servers]],
    ["copy", [`${count(rows)} rows of ${move.status.tables.length} tables in ${count(chunks)} chunks, ${seconds(move.copySeconds)}: at best ${count(move.bestCopyRate)} rows/s`]],
    ["the kill", killLines(move.kill)],
    [
      "application",
      [
        `${count(application.transactions)} transactions, ${count(application.transactions / application.seconds)} a second for ${seconds(application.seconds)}, changed ${count(application.rowsChanged)} rows;`,
        `the slowest took ${seconds(application.slowestMs / 1000)}, ${count(application.retries)} were started over (deadlocks among themselves)`,
      ],
    ],
    ["catch up", [`${seconds(move.catchUpSeconds)} until the target had what happened during the copy: at best ${count(move.bestApplyRate)} rows/s`]],
    ["lag", [`${median(move.lags)} s in the middle, ${move.lags.at(-1) ?? "?"} s at worst, while the application wrote`]],
    ["diff", [`${verdict(move.diff)}: ${count(sum(move.diff, "rowsCompared"))} rows compared in ${seconds(move.diffSeconds)} while the application wrote`]],
    ["cut-over", [`the target had everything ${seconds(move.cutOverSeconds)} after the writers stopped`]],
    ["comparison", [`without Drover, every row and every column's bytes, in ${seconds(input.comparisonSeconds)}:`]],
  ];
  if (move.warnings.length > 0) entries.push(["warnings", move.warnings]);
  return [
    "",
    ...entries.flatMap(([name, lines]) => lines.map((line, i) => `  ${(i === 0 ? name : "").padEnd(13)}${line}`)),
    ...comparisonTable(comparison).map((line) => `  ${" ".repeat(13)}${line}`),
    "",
    isSuccess(input) ? `Both sides are equal. ${seconds(input.totalSeconds)} in all.` : `BOTH SIDES ARE NOT EQUAL. ${seconds(input.totalSeconds)} in all.`,
  ];
}

function killLines(kill: KillFigures | null): string[] {
  if (kill === null) return ["the copy was over before a worker could be killed"];
  const at = `${kill.worker} was killed with ${Math.floor(kill.atShare * 100)} % of the rows copied`;
  if (kill.seconds === null) return [`${at}, between two jobs: nothing was lost`];
  const jobs = Object.entries(kill.takenOver).map(([kind, jobsOfIt]) => `${jobsOfIt} × ${kind}`);
  return [`${at};`, `its jobs (${jobs.join(", ")}) were taken over ${seconds(kill.seconds)} later: about ${count(kill.redoneRows)} rows read again, none lost`];
}

function verdict(diff: DiffReport): string {
  if (diff.hasMismatch) return `DIFFERENT (${count(sum(diff, "mismatched"))} mismatched, ${count(sum(diff, "missingOnTarget"))} missing, ${count(sum(diff, "extraOnTarget"))} extra)`;
  const inconclusive = sum(diff, "inconclusive");
  return inconclusive === 0 ? "equal" : `equal, but for ${count(inconclusive)} rows that kept changing`;
}

function sum(diff: DiffReport, figure: "rowsCompared" | "mismatched" | "missingOnTarget" | "extraOnTarget" | "inconclusive"): number {
  return diff.tables.reduce((total, table) => total + table[figure], 0);
}

function comparisonTable(comparison: readonly TableComparison[]): string[] {
  const rows = comparison.map((table) => [table.table, count(table.rows), count(table.different), count(table.missingOnTarget), count(table.extraOnTarget), isEqual(table) ? "equal" : "NOT EQUAL"]);
  const details = comparison.flatMap((table) => [...table.samples, ...table.definitions].map((line) => `${table.table}: ${line}`));
  return [...textTable(["TABLE", "ROWS", "DIFFERENT", "MISSING", "EXTRA", ""], rows, ["left", "right", "right", "right", "right", "left"]), ...details];
}

function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}
