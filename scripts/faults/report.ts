/** The figures of many runs as a table: one row per fault and phase, and one of all; the worst of its runs, and the p99 of all their probes. */
import { readFile, writeFile } from "node:fs/promises";
import type { PeerReport } from "./peers.js";
import type { RunReport } from "./run.js";
import { p99 } from "./watch.js";

/** What is promised, whatever strikes: milliseconds, and seconds until work goes on after a worker was lost. */
const PROMISED = { ddlWaitMs: 5_000, ddlWaitMsP99: 250, transactionMs: 10_000, recoverSeconds: 30 };
const WORKER_LOST = ["kill9", "sigstop", "cut-source", "cut-target", "cut-redis"];

const HEAD = ["fault", "phase", "runs", "equal", "DDL wait max", "p99", "p99, idle table", "our oldest transaction", "our oldest lock", "recovery", "redone rows, at most"];
const BEGIN = "<!-- figures: made by npm run faults -- --markdown -->";
const END = "<!-- end of figures -->";

function figures(reports: readonly RunReport[]): string[][] {
  const groups = new Map<string, RunReport[]>();
  for (const report of reports) {
    const key = `${report.fault} ${report.phase}`;
    groups.set(key, [...(groups.get(key) ?? []), report]);
  }
  const rows = [...groups.values()].map((runs) => [(runs[0] as RunReport).fault, (runs[0] as RunReport).phase, ...cells(runs)]);
  return groups.size > 1 ? [...rows, ["all", "", ...cells(reports)]] : rows;
}

function cells(runs: readonly RunReport[]): string[] {
  const worst = (value: (report: RunReport) => number) => Math.max(...runs.map(value));
  const pooled = (values: (report: RunReport) => readonly number[]) => p99(runs.flatMap(values));
  const recovered = runs.every((run) => run.recoverSeconds !== null);
  return [
    String(runs.length), runs.every((run) => run.equal) ? "yes" : "NO",
    `${worst((r) => r.ddlWaitMsMax)} ms`, `${pooled((r) => r.ddlWaitMs)} ms`, `${pooled((r) => r.idleDdlMs)} ms`, `${(worst((r) => r.ourOldestTrxMsMax) / 1000).toFixed(1)} s`,
    `${(worst((r) => r.ourOldestLockMsMax ?? 0) / 1000).toFixed(1)} s`,
    recovered ? `${worst((r) => r.recoverSeconds ?? 0).toFixed(1)} s` : "none", String(worst((r) => r.redoneRows)),
  ];
}

/** Which of the promises the runs broke; nothing when all were kept. */
export function brokenPromises(reports: readonly RunReport[]): string[] {
  const unequal = reports.filter((report) => !report.equal || report.error !== undefined).length;
  const wait = Math.max(0, ...reports.map((report) => report.ddlWaitMsMax));
  const pooled = p99(reports.flatMap((report) => report.ddlWaitMs));
  const oldest = Math.max(0, ...reports.map((report) => Math.max(report.ourOldestTrxMsMax, report.ourOldestLockMsMax ?? 0)));
  const recovery = Math.max(0, ...reports.filter((report) => WORKER_LOST.includes(report.fault)).map((report) => report.recoverSeconds ?? Infinity));
  return [
    ...(unequal === 0 ? [] : [`${unequal} of ${reports.length} runs did not end equal and without an error`]),
    ...(wait < PROMISED.ddlWaitMs ? [] : [`DDL waited ${wait} ms`]),
    ...(pooled < PROMISED.ddlWaitMsP99 ? [] : [`the p99 of the waits of DDL is ${pooled} ms`]),
    ...(oldest < PROMISED.transactionMs ? [] : [`a transaction or a lock of ours was ${oldest} ms old`]),
    ...(recovery < PROMISED.recoverSeconds ? [] : [`work went on only after ${recovery} s`]),
  ];
}

/** The runs in an output of `--json`; its lines about peers are passed over. Those of an earlier version have no probes of their own. */
export async function readReports(file: string): Promise<RunReport[]> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
  const runs = lines.map((line) => JSON.parse(line) as RunReport | PeerReport).filter((report): report is RunReport => "fault" in report);
  return runs.map((run) => ({ ...run, ddlWaitMs: run.ddlWaitMs ?? [], idleDdlMs: run.idleDdlMs ?? [] }));
}

/** For a terminal. */
export function textTable(reports: readonly RunReport[], peers: readonly PeerReport[]): string {
  const lines = reports.length === 0 ? [] : aligned([HEAD, ...figures(reports)]);
  return [...lines, ...peers.map((peer) => `${peer.peer} ${peer.version}, stopped in a dump: ALTER waits ${wait(peer)}`)].join("\n");
}

/** Puts the figures into a page, between its two marks. @throws when they are not there */
export async function writeMarkdown(file: string, reports: readonly RunReport[], peers: readonly PeerReport[]): Promise<void> {
  const page = await readFile(file, "utf8");
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${file} has no place for figures: "${BEGIN}" … "${END}"`);
  const rows = [HEAD, HEAD.map((_name, i) => (i < 2 ? "---" : "---:")), ...figures(reports)];
  const table = reports.length === 0 ? [] : [rows.map((row) => `| ${row.join(" | ")} |`).join("\n")];
  const others = peers.length === 0 ? [] : [["| stopped in a dump (SIGSTOP) | an ALTER on the source waits |", "| --- | ---: |", ...peers.map((peer) => `| ${peer.peer} ${peer.version} | ${wait(peer)} |`)].join("\n")];
  await writeFile(file, `${page.slice(0, begin)}${BEGIN}\n\n${[...table, ...others].join("\n\n")}\n\n${page.slice(end)}`);
}

function wait(peer: PeerReport): string {
  return peer.stillWaiting ? `more than ${Math.round(peer.ddlWaitMs / 1000)} s (given up)` : `${(peer.ddlWaitMs / 1000).toFixed(1)} s`;
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = HEAD.map((_name, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) => row.map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  ").trimEnd());
}
