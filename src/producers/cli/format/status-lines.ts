/** A migration's status for people: a headline, one line per table with its progress, what needs attention. */
import stringWidth from "string-width";
import type { MigrationStatus, Phase, TableStatus } from "../../../shared/contracts/status.js";
import { bounded } from "../../../shared/errors.js";
import { formatBytes } from "../../../shared/units.js";
import type { Paint, Size } from "../terminal.js";
import { count, percent, plural, rate, seconds } from "./numbers.js";
import { progressBar } from "./progress-bar.js";
import { textTable } from "./text-table.js";

const PHASE_COLOURS: Record<Phase, Parameters<Paint>[0]> = {
  planning: "cyan", copying: "cyan", "catching-up": "cyan", streaming: "green", completed: "green", paused: "yellow", stopped: "dim", failed: "red",
};
/** Tables shown in one status, where there is room; the largest unfinished ones come first. */
const MAX_TABLES = 30;

export function statusLines(status: MigrationStatus, paint: Paint, size: Size = { width: Infinity, height: Infinity }): string[] {
  const attention = attentionLines(status, paint);
  // What needs attention may wrap to twice its lines; the headline and the line about more tables need theirs.
  const head = wrapped(headline(status, paint), size.width);
  const room = Math.max(1, Math.min(MAX_TABLES, size.height - 2 - head.length - 2 * attention.length));
  return [...head, ...tableLines(status.tables, paint, size.width, room), ...attention];
}

/** The whole in one line, however wide. */
export function summaryLine(status: MigrationStatus, paint: Paint): string {
  return wrapped(headline(status, paint), Infinity).join("");
}

/** One line per migration. */
export function statusTable(statuses: readonly MigrationStatus[], paint: Paint): string[] {
  if (statuses.length === 0) return ["no migrations"];
  const header = ["ID", "PHASE", "TABLES", "ROWS", "COPIED", "LAG", "BACKLOG", "NOTE"].map((cell) => paint("dim", cell));
  const rows = statuses.map((s) => {
    const [copied] = rowsOf(s);
    const note = s.error !== null ? paint("red", s.error.code) : s.stuck !== null ? paint("yellow", "stuck") : "";
    return [s.id, paint(PHASE_COLOURS[s.phase], s.phase), String(s.tables.length), count(copied), copiedShare(s), seconds(s.lagSeconds), formatBytes(s.backlog.bytes), note];
  });
  return textTable(header, rows, ["left", "left", "right", "right", "right", "right", "right", "left"]);
}

/** A follow alone copies nothing, and what lies empty is copied whole. */
function copiedShare(status: MigrationStatus): string {
  if (copiesNothing(status)) return "–";
  const [copied, estimated] = rowsOf(status);
  return estimated === 0 && status.tables.length > 0 && status.tables.every((table) => table.phase === "copied") ? "100 %" : percent(copied, estimated);
}

/** Its tables were taken as they are. */
function copiesNothing({ tables }: MigrationStatus): boolean {
  return tables.length > 0 && tables.every((table) => table.phase === "copied" && table.chunksTotal === 0 && table.rowsCopied === 0);
}

function headline(status: MigrationStatus, paint: Paint): string[] {
  const [copied, estimated] = rowsOf(status);
  const parts = [`${paint("bold", status.id)}  ${paint(PHASE_COLOURS[status.phase], status.phase)}`];
  if (status.phase === "copying") {
    parts.push(`${count(copied)} of about ${count(estimated)} rows (${percent(copied, estimated)})`, rate(status.rates.copyRowsPerSecond));
    if (status.etaSeconds !== null) parts.push(`${seconds(status.etaSeconds)} left`);
  } else if (status.tables.length > 0 && !copiesNothing(status)) parts.push(`${count(copied)} rows copied`);
  if (status.phase === "catching-up" || status.phase === "streaming") parts.push(`applying ${rate(status.rates.applyRowsPerSecond)}`, `lag ${seconds(status.lagSeconds)}`);
  if (status.backlog.batches > 0) parts.push(`backlog ${plural(status.backlog.batches, "batch", "batches")}, ${formatBytes(status.backlog.bytes)}`);
  return parts;
}

/** Parts in as few lines as their width allows; the first line begins at the margin. */
function wrapped(parts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const longer = `${lines.at(-1) ?? ""}  ·  ${part}`;
    if (lines.length > 0 && stringWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(lines.length === 0 ? part : `  ${part}`);
  }
  return lines;
}

function tableLines(tables: readonly TableStatus[], paint: Paint, width: number, room: number): string[] {
  if (tables.length === 0) return [];
  const order = [...tables].sort((a, b) => Number(a.phase === "copied") - Number(b.phase === "copied") || b.rowsEstimated - a.rowsEstimated);
  const shown = tables.length > room ? order.slice(0, room) : tables;
  const more = tables.length - shown.length;
  const lines = fittingTable(shown, paint, width);
  return more > 0 ? [...lines, paint("dim", `  … and ${more} more ${more === 1 ? "table" : "tables"}`)] : lines;
}

/** The most that the width has room for: in a narrow terminal first the chunks go, then the rows, then the bar; at last names are cut. */
function fittingTable(tables: readonly TableStatus[], paint: Paint, width: number): string[] {
  let lines: string[] = [];
  for (const cells of [{ rows: true, chunks: true, bar: 30 }, { rows: true, chunks: true, bar: 12 }, { rows: true, chunks: false, bar: 12 }, { rows: false, chunks: false, bar: 8 }, { rows: false, chunks: false, bar: 0 }]) {
    lines = progressTable(tables, paint, cells, Infinity);
    if (lines.every((line) => stringWidth(line) <= width)) return lines;
  }
  const excess = Math.max(...lines.map((line) => stringWidth(line))) - width;
  const longest = Math.max(...tables.map((table) => stringWidth(tableName(table))));
  return progressTable(tables, paint, { rows: false, chunks: false, bar: 0 }, Math.max(4, longest - excess));
}

function progressTable(tables: readonly TableStatus[], paint: Paint, cells: { rows: boolean; chunks: boolean; bar: number }, nameWidth: number): string[] {
  const rows = tables.map((t) => {
    const taken = t.phase === "copied" && t.chunksTotal === 0 && t.rowsCopied === 0;
    const share = t.phase === "copied" || t.phase === "indexing" ? 1 : t.rowsEstimated === 0 ? 0 : t.rowsCopied / t.rowsEstimated;
    const colour = t.phase === "copied" ? "green" : "cyan";
    return [
      `  ${bounded(tableName(t), nameWidth)}`,
      ...(cells.bar > 0 ? [paint(colour, progressBar(share, cells.bar))] : []),
      taken ? "–" : `${Math.floor(share * 100)} %`,
      ...(cells.rows ? [count(t.rowsCopied)] : []),
      ...(cells.chunks ? [taken ? "–" : `${t.chunksDone}/${t.chunksTotal} chunks`] : []),
      t.phase === "copied" ? "" : t.phase,
    ];
  });
  const columns = rows[0]?.length ?? 0;
  const align = Array.from({ length: columns }, (_, i): "left" | "right" => (i === 0 || i === columns - 1 || (i === 1 && cells.bar > 0) ? "left" : "right"));
  return textTable(Array.from({ length: columns }, () => ""), rows, align).slice(1);
}

function attentionLines(status: MigrationStatus, paint: Paint): string[] {
  const lines: string[] = [];
  const { error } = status;
  if (error !== null) {
    const again = status.phase === "failed" ? "" : `, tried again (${error.retries} so far)`;
    lines.push(`  ${paint("red", "✗")} ${error.message} ${paint("dim", `[${error.code}]`)} at ${error.at}${again}`);
  }
  if (status.stuck !== null) lines.push(`  ${paint("yellow", "!")} nothing has moved since ${status.stuck.since}: ${status.stuck.reason}`);
  if (status.phase === "paused") lines.push(`  ${paint("green", "→")} \`drover resume ${status.id}\` goes on`);
  if (status.phase === "failed") lines.push(`  ${paint("green", "→")} remove the cause, then \`drover resume ${status.id}\``);
  return lines;
}

function tableName(table: TableStatus): string {
  return table.source === table.target ? table.source : `${table.source} → ${table.target}`;
}

function rowsOf(status: MigrationStatus): [copied: number, estimated: number] {
  return status.tables.reduce(([copied, estimated], t) => [copied + t.rowsCopied, estimated + t.rowsEstimated], [0, 0]);
}
