/** A migration's status for people: a headline, one line per table with its progress, what needs attention. */
import type { MigrationStatus, Phase, TableStatus } from "../../../shared/contracts/status.js";
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

export function statusLines(status: MigrationStatus, paint: Paint, size: Size = { width: 100, height: Infinity }): string[] {
  const attention = attentionLines(status, paint);
  // What needs attention may wrap to twice its lines; the headline and the line about more tables need theirs.
  const room = Math.max(1, Math.min(MAX_TABLES, size.height - 3 - 2 * attention.length));
  return [headline(status, paint), ...tableLines(status.tables, paint, size.width, room), ...attention];
}

/** One line per migration. */
export function statusTable(statuses: readonly MigrationStatus[], paint: Paint): string[] {
  if (statuses.length === 0) return ["no migrations"];
  const header = ["ID", "PHASE", "TABLES", "ROWS", "COPIED", "LAG", "BACKLOG", "NOTE"].map((cell) => paint("dim", cell));
  const rows = statuses.map((s) => {
    const [copied, estimated] = rowsOf(s);
    const note = s.error !== null ? paint("red", s.error.code) : s.stuck !== null ? paint("yellow", "stuck") : "";
    return [s.id, paint(PHASE_COLOURS[s.phase], s.phase), String(s.tables.length), count(copied), percent(copied, estimated), seconds(s.lagSeconds), formatBytes(s.backlog.bytes), note];
  });
  return textTable(header, rows, ["left", "left", "right", "right", "right", "right", "right", "left"]);
}

function headline(status: MigrationStatus, paint: Paint): string {
  const [copied, estimated] = rowsOf(status);
  const parts = [`${paint("bold", status.id)}  ${paint(PHASE_COLOURS[status.phase], status.phase)}`];
  if (status.phase === "copying") {
    parts.push(`${count(copied)} of about ${count(estimated)} rows (${percent(copied, estimated)})`, rate(status.rates.copyRowsPerSecond));
    if (status.etaSeconds !== null) parts.push(`${seconds(status.etaSeconds)} left`);
  } else if (status.tables.length > 0) parts.push(`${count(copied)} rows copied`);
  if (status.phase === "catching-up" || status.phase === "streaming") parts.push(`applying ${rate(status.rates.applyRowsPerSecond)}`, `lag ${seconds(status.lagSeconds)}`);
  if (status.backlog.batches > 0) parts.push(`backlog ${plural(status.backlog.batches, "batch", "batches")}, ${formatBytes(status.backlog.bytes)}`);
  return parts.join("  ·  ");
}

function tableLines(tables: readonly TableStatus[], paint: Paint, width: number, room: number): string[] {
  if (tables.length === 0) return [];
  const order = [...tables].sort((a, b) => Number(a.phase === "copied") - Number(b.phase === "copied") || b.rowsEstimated - a.rowsEstimated);
  const shown = tables.length > room ? order.slice(0, room) : tables;
  const bar = Math.max(8, Math.min(30, width - 75));
  const rows = shown.map((t) => {
    const share = t.phase === "copied" || t.phase === "indexing" ? 1 : t.rowsEstimated === 0 ? 0 : t.rowsCopied / t.rowsEstimated;
    const colour = t.phase === "copied" ? "green" : "cyan";
    return [`  ${tableName(t)}`, paint(colour, progressBar(share, bar)), `${Math.floor(share * 100)} %`, count(t.rowsCopied), `${t.chunksDone}/${t.chunksTotal} chunks`, t.phase === "copied" ? "" : t.phase];
  });
  const more = tables.length - shown.length;
  const [, ...lines] = textTable(["", "", "", "", "", ""], rows, ["left", "left", "right", "right", "right", "left"]);
  return more > 0 ? [...lines, paint("dim", `  … and ${more} more ${more === 1 ? "table" : "tables"}`)] : lines;
}

function attentionLines(status: MigrationStatus, paint: Paint): string[] {
  const lines: string[] = [];
  const { error } = status;
  if (error !== null) {
    const again = status.phase === "failed" ? "" : `, tried again (${error.retries} so far)`;
    lines.push(`  ${paint("red", "✗")} ${error.message} ${paint("dim", `[${error.code}]`)} at ${error.at}${again}`);
  }
  if (status.stuck !== null) lines.push(`  ${paint("yellow", "!")} nothing has moved since ${status.stuck.since}: ${status.stuck.reason}`);
  if (status.phase === "failed") lines.push(`  ${paint("green", "→")} remove the cause, then \`drover resume ${status.id}\``);
  return lines;
}

function tableName(table: TableStatus): string {
  return table.source === table.target ? table.source : `${table.source} → ${table.target}`;
}

function rowsOf(status: MigrationStatus): [copied: number, estimated: number] {
  return status.tables.reduce(([copied, estimated], t) => [copied + t.rowsCopied, estimated + t.rowsEstimated], [0, 0]);
}
