/** The diff's work items as a worker runs them: prepare, chunk, repair. Knows nothing of BullMQ. */
import { DroverError, errorRecord, type ErrorCode } from "../../shared/errors.js";
import type { RepairReport } from "../../shared/state/diff-repair-report.js";
import type { DiffOptions } from "../../shared/contracts/diff.js";
import { DiffState } from "../../shared/state/diff-state.js";
import type { Diff } from "../../shared/state/diffs.js";
import type { Session } from "../../shared/mysql/session.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import { ErrorSaver } from "../error-saver.js";
import { codedError } from "../coded-error.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { compareChunk, type ChunkOutcome } from "./compare-chunk.js";
import { finishDiff } from "./finish.js";
import { HashPace } from "./pace.js";
import { DiffPlanner } from "./plan.js";
import { DiffRepair } from "./repair.js";
import { Sides } from "./sides.js";
import { Slots } from "./slots.js";
import { SourceLoad } from "./source-load.js";
import { subjectOf } from "./subject.js";
import { DEFAULT_TUNING, type DiffTuning } from "./tuning.js";
import { DiffWatch, whyEnded } from "./watch.js";

/** What a worker remembers of a migration between two chunks, in milliseconds: a changed table is noticed after it. */
const MEMORY = 2_000;
/** And of a diff: that it was stopped is noticed by the watch, and by the recording of a chunk. */
const DIFF_MEMORY = 1_000;
/** An error that no retry is known to heal gets this many tries: a table that was altered is followed within them. */
const REFUSALS = 6;
/** Unknown column, table or index: one server has run a DDL that the other, or our definition, will have in a moment. */
const ALTERED = new Set([1054, 1146, 1176]);

/** They say nothing about a table, however often they come. */
const INFRASTRUCTURE: ReadonlySet<ErrorCode> = new Set(["CONNECTION_LOST", "SERVER_UNAVAILABLE", "REDIS_UNAVAILABLE", "LIMIT_REACHED"]);

/** One table's definition, not those of all: with thousands of tables these are megabytes. */
interface Known {
  at: number;
  migration: Migration;
  /** From before `table` was read. */
  version: string | null;
  /** Null for one that has left the migration. */
  table: MigrationTable | null;
}

export interface DiffEngineOptions {
  tuning?: DiffTuning;
  /** Chunks that keep the servers busy at once; further ones may wait for the fence meanwhile. Default 2. */
  slots?: number;
  /** Fires when the process ends. */
  ending: AbortSignal;
}

export class DiffEngine {
  readonly state: DiffState;
  readonly tuning: DiffTuning;
  /** Whoever runs `chunk` or `repair` takes one. */
  readonly slots: Slots;
  private readonly context: EngineContext;
  private readonly saver: ErrorSaver;
  private readonly watch: DiffWatch;
  private readonly load: SourceLoad;
  private readonly pace = new HashPace();
  private readonly known = new Map<string, Known>();
  private readonly knownDiffs = new Map<string, { at: number; diff: Diff | null }>();

  constructor(context: EngineContext, options: DiffEngineOptions) {
    this.context = context;
    this.tuning = options.tuning ?? DEFAULT_TUNING;
    this.state = new DiffState(context.state.schema);
    this.saver = new ErrorSaver(context, options.ending);
    this.watch = new DiffWatch(context, this.state);
    this.slots = new Slots(options.slots ?? 2);
    this.load = new SourceLoad({ connections: context.connections, log: context.log, patience: this.tuning.loadPatience, ending: options.ending });
  }

  /**
   * Cuts chunks ahead of the comparison; takes up an interrupted diff; ends one that has nothing left to do.
   * @param onChunks called now and then when there are new chunks
   */
  async prepare(ref: MigrationRef, diffId: string, signal: AbortSignal, onChunks: () => Promise<void>): Promise<void> {
    if ((await whyEnded(this.context, this.state, ref, diffId, signal)) !== null) return;
    await this.watch.during("diff", ref, diffId, signal, async (watched) => {
      const { migration, tables } = await this.readAll(ref, watched);
      const diff = await this.context.connections.use(ref.target, "target", watched, (session) => this.state.diffs.require(session, ref.migration, diffId));
      const planner = new DiffPlanner({ context: this.context, state: this.state, ref, diff, migration, tables, tuning: this.tuning, signal: watched });
      if (diff.state === "pending") await planner.begin();
      await planner.advance(onChunks);
      await finishDiff(this.context, this.state, ref, diffId, watched);
    });
  }

  /** Compares one chunk; `void` when there is nothing to do. */
  async chunk(ref: MigrationRef, diffId: string, table: number, number: number, signal: AbortSignal): Promise<ChunkOutcome> {
    return await this.watch.during("diff", ref, diffId, signal, async (watched) => {
      const { migration, of, sides, diff, chunk } = await this.lookAtChunk(ref, diffId, table, number, watched);
      if (diff?.state !== "running" || chunk?.state !== "pending" || of === null) return "void";
      try {
        await this.load.calm(migration.spec.source, diff.options, watched);
        const subject = subjectOf(ref.migration, of, diff.options);
        const work = { context: this.context, state: this.state, tuning: this.tuning, ref, diffId, options: diff.options, subject, sides, slots: this.slots, pace: this.pace };
        return await compareChunk(work, chunk);
      } catch (thrown) {
        // A defect, too, is counted: it would come again for ever.
        const error = watched.aborted ? thrown : codedError(thrown);
        // What a chunk was compared by may be what changed.
        this.known.delete(tableKey(ref, table));
        if (error instanceof DroverError && error.kind !== "aborted" && sides.mayBlame(thrown)) {
          const limit = failureLimit(error, diff.options);
          await this.saver.save(`${ref.migration}/${diffId}/${table}/${number}`, ref.target, (session) =>
            this.state.chunks.recordFailure(session, ref.migration, diffId, table, number, error, limit),
          );
        }
        throw error;
      }
    });
  }

  /** Repairs a diff's confirmed differences, as `requestRepair` asked for; takes up an interrupted repair. */
  async repair(ref: MigrationRef, diffId: string, signal: AbortSignal): Promise<"repaired" | "void"> {
    return await this.watch.during("repair", ref, diffId, signal, (watched) => this.repairWatched(ref, diffId, watched));
  }

  private async repairWatched(ref: MigrationRef, diffId: string, signal: AbortSignal): Promise<"repaired" | "void"> {
    const { migration, tables } = await this.readAll(ref, signal);
    const { diff, chunks } = await this.context.connections.use(ref.target, "target", signal, async (session) => ({
      diff: await this.state.diffs.require(session, ref.migration, diffId),
      chunks: await this.state.chunks.different(session, ref.migration, diffId),
    }));
    if ((diff.repairState !== "pending" && diff.repairState !== "running") || diff.repair === null) return "void";
    const sides = new Sides(this.context, ref, migration.spec.source, signal);
    const save = (report: RepairReport) => sides.state((session) => this.state.diffs.recordRepair(session, ref.migration, diffId, report.state, report));
    const workOf = (table: number) => {
      const of = tables.find((t) => t.number === table);
      return of === undefined ? null : { context: this.context, state: this.state, tuning: this.tuning, ref, diffId, options: diff.options, subject: subjectOf(ref.migration, of, diff.options), sides, slots: this.slots, pace: this.pace };
    };
    // What an interrupted repair listed is listed again; rows that it healed are marked and stay counted.
    const report: RepairReport = { ...(JSON.parse(diff.repair) as RepairReport), state: "running", actions: [], actionsLeftOut: 0, inconclusive: 0, refused: 0, error: null };
    await save(report);
    await new DiffRepair({ report, workOf, save }).run(chunks);
    await save({ ...report, state: report.refused > 0 ? "failed" : "completed", completedAt: new Date().toISOString() });
    return "repaired";
  }

  /** Records why a repair cannot go on; one that may heal by itself is tried again. */
  async recordRepairFailure(ref: MigrationRef, diffId: string, error: DroverError): Promise<void> {
    await this.saver.save(`${ref.migration}/${diffId}/repair`, ref.target, async (session) => {
      const diff = await this.state.diffs.read(session, ref.migration, diffId);
      if (diff?.repair == null) return;
      const report = JSON.parse(diff.repair) as RepairReport;
      const state = error.kind === "retryable" ? "running" : "failed";
      await this.state.diffs.recordRepair(session, ref.migration, diffId, state, { ...report, state, error: errorRecord(error), completedAt: state === "failed" ? new Date().toISOString() : null });
    });
  }

  /** Records an error of a diff that goes on. Returns when it is saved or its saving goes on by itself. */
  async recordError(ref: MigrationRef, diffId: string, error: unknown): Promise<void> {
    await this.saver.save(`${ref.migration}/${diffId}`, ref.target, (session) => this.state.diffs.recordError(session, ref.migration, diffId, error, false));
  }

  /** Records a failure of planning; at its limit, or when no retry heals it, the diff ends `failed`. */
  async recordPlanFailure(ref: MigrationRef, diffId: string, error: DroverError): Promise<void> {
    await this.saver.save(`${ref.migration}/${diffId}`, ref.target, async (session) => {
      const diff = await this.state.diffs.read(session, ref.migration, diffId);
      if (diff === null) return;
      const infrastructure = INFRASTRUCTURE.has(error.code);
      const limit = failureLimit(error, diff.options);
      if (!infrastructure && diff.planFailures + 1 >= limit) await this.state.diffs.end(session, ref.migration, diffId, "failed", error);
      else await this.state.diffs.recordError(session, ref.migration, diffId, error, !infrastructure);
    });
  }

  /** A chunk, and the table as it was when the chunk was cut or since: of another key its bounds would mean nothing. */
  private async lookAtChunk(ref: MigrationRef, diffId: string, table: number, number: number, signal: AbortSignal) {
    for (;;) {
      const known = await this.look(ref, table, signal);
      const sides = new Sides(this.context, ref, known.migration.spec.source, signal);
      const { version, ...found } = await sides.state(async (session) => ({
        diff: await this.lookAtDiff(session, ref, diffId),
        chunk: await this.state.chunks.read(session, ref.migration, diffId, table, number),
        // Behind the chunk: a key that is altered takes the chunks along.
        version: await this.context.state.tables.version(session, ref.migration, table),
      }));
      if (version === known.version) return { ...found, sides, migration: known.migration, of: known.table };
      this.known.delete(tableKey(ref, table));
    }
  }

  private async lookAtDiff(session: Session, ref: MigrationRef, diffId: string): Promise<Diff | null> {
    const key = `${ref.target}/${ref.migration}/${diffId}`;
    const now = Date.now();
    for (const [name, { at }] of this.knownDiffs) if (now - at > DIFF_MEMORY) this.knownDiffs.delete(name);
    const known = this.knownDiffs.get(key);
    if (known !== undefined) return known.diff;
    const diff = await this.state.diffs.read(session, ref.migration, diffId);
    if (diff?.state === "running") this.knownDiffs.set(key, { at: now, diff });
    return diff;
  }

  private async look(ref: MigrationRef, table: number, signal: AbortSignal): Promise<Known> {
    const now = Date.now();
    for (const [name, { at }] of this.known) if (now - at >= MEMORY) this.known.delete(name);
    const known = this.known.get(tableKey(ref, table));
    if (known !== undefined) return known;
    const fresh = await this.context.connections.use(ref.target, "target", signal, async (session) => ({
      at: now,
      migration: await this.context.state.migrations.require(session, ref.migration),
      version: await this.context.state.tables.version(session, ref.migration, table),
      table: await this.context.state.tables.read(session, ref.migration, table),
    }));
    this.known.set(tableKey(ref, table), fresh);
    return fresh;
  }

  private async readAll(ref: MigrationRef, signal: AbortSignal): Promise<{ migration: Migration; tables: MigrationTable[] }> {
    return await this.context.connections.use(ref.target, "target", signal, async (session) => ({
      migration: await this.context.state.migrations.require(session, ref.migration),
      tables: await this.context.state.tables.list(session, ref.migration),
    }));
  }
}

/** How many failures of this kind an item may have. */
function failureLimit(error: DroverError, options: DiffOptions): number {
  if (error.kind === "retryable" || (error.errno !== undefined && ALTERED.has(error.errno))) return options.maxAttempts;
  return error.kind === "fatal" ? Math.min(REFUSALS, options.maxAttempts) : 1;
}

function tableKey(ref: MigrationRef, table: number): string {
  return `${ref.target}/${ref.migration}/${table}`;
}
