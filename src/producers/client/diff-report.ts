/** From the recorded chunks of a diff to its report. Pure functions. */
import { copiedColumns, type ColumnDefinition } from "../../shared/columns/table-definition.js";
import { rowCells } from "../../shared/columns/text-row.js";
import type { DiffReport, DiffSample, DiffState, DiffTableReport } from "../../shared/contracts/diff.js";
import type { DiffChunkTotals } from "../../shared/state/diff-chunks.js";
import type { DifferenceKind, StoredDifference } from "../../shared/state/diff-rows.js";
import type { DiffTable } from "../../shared/state/diff-tables.js";
import type { Diff } from "../../shared/state/diffs.js";
import type { MigrationTable } from "../../shared/state/tables.js";

export interface DiffRecords {
  migration: string;
  diff: Diff;
  tables: readonly { record: DiffTable; table: MigrationTable | undefined; totals: DiffChunkTotals | undefined; samples: readonly StoredDifference[] }[];
  /** Rows compared per second now; null when it cannot be told. */
  rowsPerSecond: number | null;
}

const KINDS: Record<DifferenceKind, DiffSample["kind"]> = { mismatched: "mismatched", missing: "missingOnTarget", extra: "extraOnTarget", inconclusive: "inconclusive" };

export function diffReport(records: DiffRecords): DiffReport {
  const { diff } = records;
  const tables = records.tables.map((t) => tableReport(diff, t));
  const planned = records.tables.reduce((sum, t) => sum + Math.max(t.record.rowsEstimated, t.totals?.rowsPlanned ?? 0), 0);
  const done = records.tables.reduce((sum, t) => sum + (t.totals?.rowsDone ?? 0), 0);
  const complete = diff.state === "completed";
  return {
    id: records.migration,
    diffId: diff.id,
    state: diff.state,
    hasMismatch: tables.some((t) => t.mismatched + t.missingOnTarget + t.extraOnTarget > 0),
    tables,
    attempts: diff.attempts,
    lastError: diff.error,
    startedAt: diff.startedAt,
    completedAt: diff.completedAt,
    progress: {
      // 100 is for the end alone: what is planned may still grow.
      percent: complete ? 100 : Math.min(99, planned === 0 ? 0 : Math.floor((100 * done) / planned)),
      etaSeconds: complete ? 0 : diff.state === "running" && records.rowsPerSecond !== null && records.rowsPerSecond > 0 ? Math.ceil((planned - done) / records.rowsPerSecond) : null,
    },
  };
}

function tableReport(diff: Diff, { record, table, totals, samples }: DiffRecords["tables"][number]): DiffTableReport {
  return {
    source: table ? `${table.source.schema}.${table.source.table}` : `table ${record.number}`,
    target: table ? `${table.target.schema}.${table.target.table}` : `table ${record.number}`,
    state: tableState(diff, record, totals),
    rowsCompared: totals?.rows ?? 0,
    matching: totals?.matching ?? 0,
    mismatched: totals?.mismatched ?? 0,
    missingOnTarget: totals?.missing ?? 0,
    extraOnTarget: totals?.extra ?? 0,
    inconclusive: totals?.inconclusive ?? 0,
    samples: samples.map((sample) => ({ kind: KINDS[sample.kind], key: keyText(sample.key, table), columns: sample.columns })),
  };
}

function tableState(diff: Diff, record: DiffTable, totals: DiffChunkTotals | undefined): DiffState {
  if ((totals?.failed ?? 0) > 0) return "failed";
  if (record.planned && (totals?.pending ?? 0) === 0) return "completed";
  if (diff.state === "running") return totals !== undefined && totals.pending < totals.chunks ? "running" : "pending";
  return diff.state;
}

/** The key of a row by column name, as text that a person can search for. */
export function keyText(key: Buffer, table: MigrationTable | undefined): Record<string, string> {
  const columns = table ? copiedColumns(table.definition) : [];
  const names = table?.definition.key?.columns ?? [];
  const entries = rowCells(key).map((cell, i) => {
    const name = names[i] ?? `key${i + 1}`;
    return [name, cell === null ? "NULL" : cellText(cell, columns.find((column) => column.name === name))] as const;
  });
  return Object.fromEntries(entries);
}

const BINARY_TYPES = new Set(["binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "bit", "geometry", "vector"]);

/** Bytes in the column's own character set; what is no text we know is shown as `0x…`. */
function cellText(cell: Buffer, column: ColumnDefinition | undefined): string {
  const charset = column?.charset ?? "ascii";
  if (column && BINARY_TYPES.has(column.dataType)) return `0x${cell.toString("hex")}`;
  if (/^(utf8|ascii)/.test(charset)) return cell.toString("utf8");
  if (charset === "latin1") return new TextDecoder("windows-1252").decode(cell);
  return `0x${cell.toString("hex")}`;
}
