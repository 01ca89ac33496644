/** What the page shows, as one document. Keys of rows are in it where a comparison found a difference, values never. */
import type { DiffReport, DiffSample, DiffTableReport } from "../../../shared/contracts/diff.js";
import type { MigrationStatus, TableStatus } from "../../../shared/contracts/status.js";
import { verdictOf, type Verdict } from "./verdict.js";

/** The diffs of a migration that the page speaks of. */
export interface DiffPair {
  /** With samples. */
  latest: DiffReport | null;
  /** The newest that is completed; without samples. */
  completed: DiffReport | null;
}

export interface DiffView extends Omit<DiffReport, "tables"> {
  totals: Record<"rowsCompared" | "matching" | "mismatched" | "missingOnTarget" | "extraOnTarget" | "inconclusive", number>;
  /** Tables in which something is not equal. */
  different: { source: string; target: string; samples: DiffSample[] }[];
}

export interface MigrationView extends MigrationStatus {
  /** Of all tables; `tables` holds some of them, the unfinished and large ones first. */
  tableCounts: { total: number; copied: number };
  rowsEstimated: number;
  diff: DiffView | null;
  verdict: Verdict;
}

export interface Snapshot {
  /** ISO time. */
  at: string;
  migrations: MigrationView[];
  unreachable: { connection: string; message: string }[];
}

/** More would be neither read nor quick to draw. */
const MAX_TABLES = 40;
const MAX_DIFFERENT = 10;
const MAX_SAMPLES = 10;
/** A GTID set may be long; the page shows its beginning. */
const MAX_POSITION = 300;

export function migrationView(status: MigrationStatus, diffs: DiffPair, now: number): MigrationView {
  const verdict = verdictOf(status, diffs.completed, now);
  return {
    ...status,
    position: { applied: status.position.applied.slice(0, MAX_POSITION), source: status.position.source?.slice(0, MAX_POSITION) ?? null },
    tables: shownTables(status.tables),
    tableCounts: { total: status.tables.length, copied: status.tables.filter((t) => t.phase === "copied").length },
    rowsEstimated: status.tables.reduce((sum, t) => sum + t.rowsEstimated, 0),
    diff: diffs.latest && diffView(diffs.latest),
    verdict,
  };
}

function shownTables(tables: readonly TableStatus[]): TableStatus[] {
  if (tables.length <= MAX_TABLES) return [...tables];
  return [...tables].sort((a, b) => Number(a.phase === "copied") - Number(b.phase === "copied") || b.rowsEstimated - a.rowsEstimated).slice(0, MAX_TABLES);
}

function diffView({ tables, ...report }: DiffReport): DiffView {
  const total = (figure: (table: DiffTableReport) => number) => tables.reduce((sum, table) => sum + figure(table), 0);
  const unequal = tables.filter((t) => t.mismatched + t.missingOnTarget + t.extraOnTarget + t.inconclusive > 0);
  return {
    ...report,
    totals: {
      rowsCompared: total((t) => t.rowsCompared), matching: total((t) => t.matching), mismatched: total((t) => t.mismatched),
      missingOnTarget: total((t) => t.missingOnTarget), extraOnTarget: total((t) => t.extraOnTarget), inconclusive: total((t) => t.inconclusive),
    },
    different: unequal.slice(0, MAX_DIFFERENT).map(({ source, target, samples }) => ({ source, target, samples: samples.slice(0, MAX_SAMPLES).map(({ kind, key, columns }) => ({ kind, key, columns })) })),
  };
}
