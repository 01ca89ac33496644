/** Records as the stores give them, for tests that change one thing at a time. */
import { parseMigrationSpec } from "../../../src/shared/contracts/spec.js";
import type { DiffReport, DiffTableReport } from "../../../src/shared/contracts/diff.js";
import type { MigrationStatus, TableStatus } from "../../../src/shared/contracts/status.js";
import type { Fence } from "../../../src/shared/state/fence.js";
import type { Migration } from "../../../src/shared/state/migrations.js";

export const NOW = Date.parse("2026-12-01T12:00:00.000Z");
export const UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562";

const spec = { id: "shop", source: "SRC", target: "DST", tables: [{ schema: "shop" }] };

export function migration(changes: Partial<Migration> = {}): Migration {
  const at = new Date(NOW).toISOString();
  return {
    id: "shop", spec: parseMigrationSpec(spec), phase: "copying", resumePhase: "copying", catchUp: null,
    error: null, progressAt: at, startedAt: at, copiedAt: null, updatedAt: at, ...changes,
  };
}

export function fence(changes: Partial<Fence> = {}): Fence {
  return {
    epoch: 1, seq: 4, position: `${UUID}:1-100`, draining: false, partial: false, appliedRows: 0, appliedTransactions: 0, rowsPerSecond: 900,
    sourceTime: NOW - 400, updatedAt: new Date(NOW).toISOString(), ...changes,
  };
}

export function tableProgress(changes: Partial<TableStatus> = {}): TableStatus {
  return { source: "shop.orders", target: "shop.orders", phase: "copying", rowsCopied: 120_000, rowsEstimated: 500_000, chunksDone: 12, chunksTotal: 50, ...changes };
}

export function status(changes: Partial<MigrationStatus> = {}): MigrationStatus {
  return {
    id: "shop", phase: "copying", tables: [tableProgress()], position: { applied: `${UUID}:1-100`, source: `${UUID}:1-140` }, lagSeconds: 0.4,
    backlog: { batches: 3, bytes: 120_000 }, rates: { copyRowsPerSecond: 41_000, applyRowsPerSecond: 900 }, etaSeconds: 9, error: null, stuck: null,
    totals: { rowsCopied: 120_000, bytesCopied: 9_000_000, rowsApplied: 1_200, transactionsApplied: 300, batchesApplied: 20 }, fenceAgeSeconds: 0.2,
    startedAt: "2026-11-30T12:00:00.000Z", updatedAt: "2026-11-30T12:00:03.000Z", ...changes,
  };
}

export function diffTableReport(changes: Partial<DiffTableReport> = {}): DiffTableReport {
  return {
    source: "shop.orders", target: "shop.orders", state: "completed", rowsCompared: 1000, matching: 1000, mismatched: 0, missingOnTarget: 0,
    extraOnTarget: 0, inconclusive: 0, samples: [], ...changes,
  };
}

export function diffReport(changes: Partial<DiffReport> = {}): DiffReport {
  return {
    id: "shop", diffId: "d1", state: "completed", hasMismatch: false, limited: false, tables: [diffTableReport()], attempts: 1, lastError: null,
    startedAt: "2026-11-30T12:00:00.000Z", completedAt: "2026-11-30T12:01:00.000Z", progress: { percent: 100, etaSeconds: 0 }, ...changes,
  };
}
