/**
 * The figures of one worker process, for Prometheus: what it did since it began, how long that took, what went wrong.
 * Migrations have their figures on the board's `/metrics`, which reads the state; no label here names one, so that the number
 * of series is fixed for as long as the process lives.
 */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { SessionObserver, StatementKind } from "../../shared/mysql/session-observer.js";
import type { SessionRole } from "../../shared/mysql/open-session.js";
import type { QueueName } from "../../shared/queue-names.js";
import type { HookPoint } from "../hooks.js";

/** `handed-on`: the job goes on elsewhere, as a lease does or at a shutdown; `retried`: it comes again after a delay. */
export type JobOutcome = "done" | "handed-on" | "retried" | "failed";

export interface WorkerMetricsOptions {
  /** The sessions that this process has on MySQL servers now. */
  sessions: () => { lent: number; idle: number };
}

/** From a millisecond to half a minute: the time limits of our statements lie between (seconds). */
const TIME_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export class WorkerMetrics implements SessionObserver {
  readonly registry = new Registry();
  private readonly rows = this.counter("drover_worker_rows_written_total", "Rows written to targets and committed", ["work"]);
  private readonly bytes = this.counter("drover_worker_bytes_total", "Bytes of rows: read from sources by the copy, sent to the backlog by the tail", ["work"]);
  private readonly chunks = this.counter("drover_worker_chunks_total", "Chunks finished: copied, or compared by a diff", ["work"]);
  private readonly batches = this.counter("drover_worker_batches_total", "Batches of the binlog: sent to the backlog, or applied", ["work"]);
  private readonly transactions = this.counter("drover_worker_transactions_total", "Source transactions in the batches sent to the backlog or applied", ["work"]);
  private readonly chunkTime = this.histogram("drover_worker_chunk_seconds", "Time of one chunk of the copy, by step", ["step"]);
  private readonly batchTime = this.histogram("drover_worker_batch_apply_seconds", "Time from taking up a batch to its commit", []);
  private readonly statementTime = this.histogram("drover_worker_statement_seconds", "Time of one statement on a server", ["role", "kind"]);
  private readonly statementErrors = this.counter("drover_worker_statement_errors_total", "Statements that failed, were aborted or went unanswered", ["role"]);
  private readonly opened = this.counter("drover_worker_sessions_opened_total", "Sessions opened on MySQL servers", ["role"]);
  private readonly jobTime = this.histogram("drover_worker_job_seconds", "Time of one run of a job", ["queue"], [...TIME_BUCKETS, 60, 120]);
  private readonly jobs = this.counter("drover_worker_jobs_total", "Runs of jobs by how they ended", ["queue", "outcome"]);
  private readonly active = this.gauge("drover_worker_jobs_active", "Jobs that this process works on now", ["queue"]);
  private readonly stalls = this.counter("drover_worker_jobs_stalled_total", "Jobs of workers that had stopped renewing their locks, found by this process", ["queue"]);
  private readonly lockLosses = this.counter("drover_worker_job_locks_lost_total", "Jobs of this process whose lock could not be renewed", ["queue"]);
  private readonly errors = this.counter("drover_worker_errors_total", "Errors of jobs by their code; those that heal by themselves are retried", ["queue", "code"]);

  constructor(options: WorkerMetricsOptions) {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: 20 });
    const registry = { registers: [this.registry] };
    new Gauge({
      ...registry, name: "drover_worker_sessions", help: "Sessions on MySQL servers now", labelNames: ["state"],
      collect() {
        const { lent, idle } = options.sessions();
        this.set({ state: "lent" }, lent);
        this.set({ state: "idle" }, idle);
      },
    });
  }

  /** What happened at a point of the engines (`hooks.ts`), with that point's figures. */
  at(point: HookPoint, detail: Readonly<Record<string, string | number>>): void {
    const figure = (name: string) => Number(detail[name] ?? 0);
    if (point === "chunk:after-commit") {
      this.chunks.inc({ work: "copy" });
      this.rows.inc({ work: "copy" }, figure("rows"));
      this.bytes.inc({ work: "copy" }, figure("bytes"));
      this.chunkTime.observe({ step: "read" }, figure("readMs") / 1000);
      this.chunkTime.observe({ step: "write" }, figure("writeMs") / 1000);
    } else if (point === "batch:after-enqueue") {
      this.batches.inc({ work: "tail" });
      this.transactions.inc({ work: "tail" }, figure("transactions"));
      this.bytes.inc({ work: "tail" }, figure("bytes"));
    } else if (point === "batch:after-commit") {
      this.batches.inc({ work: "apply" });
      this.rows.inc({ work: "apply" }, figure("rows"));
      this.transactions.inc({ work: "apply" }, figure("transactions"));
      this.batchTime.observe(figure("ms") / 1000);
    } else if (point === "diff:after-record") this.chunks.inc({ work: "diff" });
  }

  sessionOpened(role: SessionRole): void {
    this.opened.inc({ role });
  }

  statementEnded(role: SessionRole, kind: StatementKind, milliseconds: number, failed: boolean): void {
    this.statementTime.observe({ role, kind }, milliseconds / 1000);
    if (failed) this.statementErrors.inc({ role });
  }

  jobStarted(queue: QueueName): (outcome: JobOutcome) => void {
    const began = performance.now();
    this.active.inc({ queue });
    return (outcome) => {
      this.active.dec({ queue });
      this.jobs.inc({ queue, outcome });
      this.jobTime.observe({ queue }, (performance.now() - began) / 1000);
    };
  }

  jobError(queue: string, code: string): void {
    this.errors.inc({ queue, code });
  }

  jobStalled(queue: QueueName): void {
    this.stalls.inc({ queue });
  }

  locksLost(queue: QueueName, count: number): void {
    this.lockLosses.inc({ queue }, count);
  }

  private counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private gauge(name: string, help: string, labelNames: string[]): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  private histogram(name: string, help: string, labelNames: string[], buckets: number[] = TIME_BUCKETS): Histogram {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }
}
