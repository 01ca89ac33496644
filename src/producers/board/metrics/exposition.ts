/**
 * All migrations, queues and servers as Prometheus reads them. The figures are those of the state, not of this process: any board
 * of a deployment says the same, also after a restart. Labels are ids of migrations, names of tables, queues and connections, codes.
 */
import { Counter, Gauge, Registry } from "prom-client";
import type { QueueState } from "../../../shared/consumption.js";
import { PHASES } from "../../../shared/contracts/status.js";
import type { MigrationView, Snapshot } from "../page/snapshot.js";

export interface Observed {
  /** Null when it could not be had. */
  snapshot: Snapshot | null;
  /** Null when Redis does not answer. */
  queues: QueueState[] | null;
  /** Names of the configured connections. */
  connections: readonly string[];
}

/** A migration may have thousands of tables: so many, over all migrations, have series of their own. */
const MAX_TABLES = 200;

/** A registry for one scrape: what is gone leaves no series behind. */
export function observedRegistry({ snapshot, queues, connections }: Observed): Registry {
  const registry = new Registry();
  const gauge = (name: string, help: string, labelNames: string[]) => new Gauge({ name, help, labelNames, registers: [registry] });
  const down = new Set(snapshot?.unreachable.map((one) => one.connection));
  const up = gauge("drover_connection_up", "Whether a configured server could be asked for its migrations", ["connection"]);
  for (const connection of connections) up.set({ connection }, snapshot !== null && !down.has(connection) ? 1 : 0);
  gauge("drover_redis_up", "Whether Redis answered", []).set(queues === null ? 0 : 1);
  addQueues(gauge, queues ?? []);
  addMigrations(registry, gauge, snapshot?.migrations ?? []);
  return registry;
}

type MakeGauge = (name: string, help: string, labelNames: string[]) => Gauge;

function addQueues(gauge: MakeGauge, queues: readonly QueueState[]): void {
  const jobs = gauge("drover_queue_jobs", "Jobs in a queue, by state", ["queue", "state"]);
  const workers = gauge("drover_queue_workers", "Worker processes that listen to a queue", ["queue"]);
  const oldest = gauge("drover_queue_oldest_waiting_seconds", "How long the next job has been waiting; 0 when none waits", ["queue"]);
  for (const { name: queue, jobs: counts, workers: listening, oldestWaitingSeconds } of queues) {
    for (const [state, n] of Object.entries(counts)) jobs.set({ queue, state }, n);
    workers.set({ queue }, listening);
    oldest.set({ queue }, oldestWaitingSeconds ?? 0);
  }
}

function addMigrations(registry: Registry, gauge: MakeGauge, migrations: readonly MigrationView[]): void {
  const labelNames = ["migration"];
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames, registers: [registry] });
  const metrics = {
    phase: gauge("drover_migration_phase", "1 for the phase that a migration is in", ["migration", "phase"]),
    rowsCopied: counter("drover_migration_rows_copied_total", "Rows of finished chunks; falls when a table starts over"),
    bytesCopied: counter("drover_migration_bytes_copied_total", "Bytes of finished chunks; falls when a table starts over"),
    rowsEstimated: gauge("drover_migration_rows_estimated", "Rows that the copy will have, by the source's statistics", labelNames),
    rowsApplied: counter("drover_migration_events_applied_total", "Row changes of the binlog that were applied"),
    transactions: counter("drover_migration_transactions_applied_total", "Source transactions that were applied"),
    batches: counter("drover_migration_batches_applied_total", "Batches of the binlog that were applied"),
    tables: gauge("drover_migration_tables", "Tables of a migration, and those that are copied", ["migration", "state"]),
    copyRate: gauge("drover_migration_copy_rows_per_second", "Rows copied per second over the last ten seconds", labelNames),
    applyRate: gauge("drover_migration_apply_rows_per_second", "Row changes applied per second of late", labelNames),
    lag: gauge("drover_migration_lag_seconds", "How far the target is behind; missing while that is not known", labelNames),
    fenceAge: gauge("drover_migration_fence_age_seconds", "Since the fence's position moved, or work began anew; a quiet source lets it grow", labelNames),
    backlogBytes: gauge("drover_migration_backlog_bytes", "Bytes read from the binlog and not applied", labelNames),
    backlogBatches: gauge("drover_migration_backlog_batches", "Batches read from the binlog and not applied", labelNames),
    error: gauge("drover_migration_error", "1 while a migration has an error, by its code", ["migration", "code"]),
    retries: gauge("drover_migration_error_retries", "How often the error came in a row; 0 without one", labelNames),
    stuck: gauge("drover_migration_stuck", "1 while nothing moves though work is due", labelNames),
    safe: gauge("drover_migration_cutover_safe", "1 when nothing speaks against a cut-over: following, close behind, no error, a recent comparison without a difference", labelNames),
    diffRunning: gauge("drover_migration_diff_running", "1 while a comparison runs", labelNames),
    diffRows: gauge("drover_migration_diff_rows", "Rows of the newest comparison, by what was found", ["migration", "result"]),
    diffEnded: gauge("drover_migration_diff_completed_timestamp_seconds", "When the newest comparison was completed; missing unless it is", labelNames),
    tableRows: gauge("drover_table_rows_copied", "Rows copied of a table; the unfinished and large tables only", ["migration", "table"]),
  };
  let tables = 0;
  for (const m of migrations) {
    const label = { migration: m.id };
    for (const phase of PHASES) metrics.phase.set({ ...label, phase }, m.phase === phase ? 1 : 0);
    metrics.rowsCopied.inc(label, m.totals.rowsCopied);
    metrics.bytesCopied.inc(label, m.totals.bytesCopied);
    metrics.rowsEstimated.set(label, m.rowsEstimated);
    metrics.rowsApplied.inc(label, m.totals.rowsApplied);
    metrics.transactions.inc(label, m.totals.transactionsApplied);
    metrics.batches.inc(label, m.totals.batchesApplied);
    metrics.tables.set({ ...label, state: "all" }, m.tableCounts.total);
    metrics.tables.set({ ...label, state: "copied" }, m.tableCounts.copied);
    metrics.copyRate.set(label, m.rates.copyRowsPerSecond);
    metrics.applyRate.set(label, m.rates.applyRowsPerSecond);
    if (m.lagSeconds !== null) metrics.lag.set(label, m.lagSeconds);
    if (m.fenceAgeSeconds !== null) metrics.fenceAge.set(label, m.fenceAgeSeconds);
    metrics.backlogBytes.set(label, m.backlog.bytes);
    metrics.backlogBatches.set(label, m.backlog.batches);
    if (m.error !== null) metrics.error.set({ ...label, code: m.error.code }, 1);
    metrics.retries.set(label, m.error?.retries ?? 0);
    metrics.stuck.set(label, m.stuck === null ? 0 : 1);
    metrics.safe.set(label, m.verdict.safe ? 1 : 0);
    metrics.diffRunning.set(label, m.diff?.state === "running" || m.diff?.state === "pending" ? 1 : 0);
    if (m.diff !== null) for (const [result, n] of Object.entries(m.diff.totals)) metrics.diffRows.set({ ...label, result }, n);
    if (m.diff?.completedAt != null && m.diff.state === "completed") metrics.diffEnded.set(label, Date.parse(m.diff.completedAt) / 1_000);
    for (const table of m.tables) if (tables++ < MAX_TABLES) metrics.tableRows.set({ ...label, table: table.source }, table.rowsCopied);
  }
}
