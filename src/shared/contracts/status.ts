/** What `status` prints: contract §Status. */
import type { ErrorRecord } from "../errors.js";

export const PHASES = ["planning", "copying", "catching-up", "streaming", "completed", "paused", "stopped", "failed"] as const;
export type Phase = (typeof PHASES)[number];

export interface StoredError extends ErrorRecord {
  /** ISO time of the latest occurrence. */
  at: string;
  /** How often in a row, without progress in between. */
  retries: number;
}

export interface TableStatus {
  source: string;
  target: string;
  phase: "planning" | "copying" | "indexing" | "copied";
  rowsCopied: number;
  rowsEstimated: number;
  chunksDone: number;
  chunksTotal: number;
}

export interface MigrationStatus {
  id: string;
  phase: Phase;
  tables: TableStatus[];
  position: { applied: string; source: string | null };
  lagSeconds: number | null;
  backlog: { batches: number; bytes: number };
  rates: { copyRowsPerSecond: number; applyRowsPerSecond: number };
  etaSeconds: number | null;
  error: StoredError | null;
  /** Since when and why nothing has moved, when work is due; null while it moves. */
  stuck: { since: string; reason: string } | null;
  startedAt: string;
  updatedAt: string;
}
