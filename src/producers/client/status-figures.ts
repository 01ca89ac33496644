/** The figures of a status that are computed, not read: lag, time left, rows, whether it is stuck. Pure functions. */
import type { Phase, TableStatus } from "../../shared/contracts/status.js";
import type { DroverError } from "../../shared/errors.js";
import { positionCovers } from "../../shared/mysql/position.js";
import type { ChunkTotals } from "../../shared/state/chunks.js";
import type { Fence } from "../../shared/state/fence.js";
import { WORKING_PHASES, type Migration } from "../../shared/state/migrations.js";
import type { TableProgress } from "../../shared/state/tables.js";

/** Progress is recorded at least this often while work goes on, with a margin; milliseconds. */
const STUCK_AFTER = 15_000;
/** An apply rate older than this is not one of now; milliseconds. */
const RATE_LIFE = 10_000;

export function tableStatus(table: TableProgress, totals: ChunkTotals | undefined): TableStatus {
  const rowsCopied = totals?.rows ?? 0;
  const copied = table.phase === "copied" || table.phase === "indexing";
  return {
    source: `${table.source.schema}.${table.source.table}`,
    target: `${table.target.schema}.${table.target.table}`,
    phase: table.phase === "pending" ? "planning" : table.phase,
    rowsCopied,
    // InnoDB's estimate may be far off: what was copied is at least there, and in the end it is the number.
    rowsEstimated: copied ? rowsCopied : Math.max(table.rowsEstimated, rowsCopied),
    chunksDone: totals?.done ?? 0,
    chunksTotal: totals?.total ?? 0,
  };
}

/**
 * How far the target is behind: 0 when all that the source has is applied, else the age of the latest applied
 * transaction; null when that is not known, and of a migration that has ended, which is not on its way any more.
 */
export function lagSeconds(phase: Phase, fence: Fence | null, source: string | null, now: number): number | null {
  if (phase === "stopped" || phase === "completed" || fence === null || source === null) return null;
  if (positionCovers(fence.position, source)) return 0;
  return fence.sourceTime === 0 ? null : Math.max(0, Math.round((now - fence.sourceTime) / 100) / 10);
}

/** Seconds until the rows are copied; 0 when they are; null while it cannot be told. */
export function etaSeconds(migration: Migration, tables: readonly TableStatus[], rowsPerSecond: number): number | null {
  if (migration.copiedAt !== null) return 0;
  if (migration.phase !== "copying" || rowsPerSecond <= 0) return null;
  const left = tables.reduce((sum, table) => sum + table.rowsEstimated - table.rowsCopied, 0);
  return Math.ceil(left / rowsPerSecond);
}

/** Rows per second of the latest batches; 0 when there was none of late. */
export function applyRate(fence: Fence | null, now: number): number {
  return fence === null || now - Date.parse(fence.updatedAt) > RATE_LIFE ? 0 : Math.round(fence.rowsPerSecond);
}

/** Whether progress is due and has not come for a while. @param caughtUp there is nothing to apply */
export function isStuck(migration: Migration, caughtUp: boolean, now: number): boolean {
  if (!WORKING_PHASES.includes(migration.phase) || now - Date.parse(migration.progressAt) <= STUCK_AFTER) return false;
  return !(caughtUp && migration.phase === "streaming" && migration.error === null);
}

/** @param redis what is wrong with Redis; null when it answers */
export function stuckReason(migration: Migration, redis: DroverError | null, workerPresent: boolean): string {
  // Without Redis no job runs, whatever the last recorded error was.
  if (redis !== null) return redis.message;
  if (migration.error !== null) return `${migration.error.code}: ${migration.error.message}`;
  return workerPresent ? "a worker is running, but it has recorded no progress; its log may say more" : `no worker is processing migration ${migration.id}; is one running?`;
}
