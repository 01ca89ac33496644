/**
 * Cuts the tables of a diff into chunks, portion after portion, ahead of the comparison. A portion is sized by how long the
 * hashes of the table's latest chunks took.
 */
import { sleep, throwIfAborted } from "../../shared/abort.js";
import { DroverError } from "../../shared/errors.js";
import type { DiffState } from "../../shared/state/diff-state.js";
import type { Diff } from "../../shared/state/diffs.js";
import type { DiffTable, PlannedChunk } from "../../shared/state/diff-tables.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { boundsRise, copiedChunks, mergeChunks } from "./copy-bounds.js";
import { boundaryKey } from "./cut-range.js";
import { comparisonNotes } from "./notes.js";
import { Sides } from "./sides.js";
import { selectTables, subjectOf, type Subject } from "./subject.js";
import type { DiffTuning } from "./tuning.js";

/** Chunks of a table that are cut before its speed is known. */
const FIRST_CHUNKS = 32;
/** A table is cut into this many chunks at least, as long as they are not smaller than the first ones: so that many workers have work. */
const SHARES = 64;
/** Chunks that one transaction records. */
const PORTION = 64;
/** Of those that are walked: each costs a look at the source, and the comparison should begin meanwhile. */
const WALK = 8;
/** Tables that are cut at the same time. */
const LANES = 4;
/** Between two announcements of new chunks, in milliseconds. */
const ANNOUNCEMENT = 250;

export interface PlannerOptions {
  context: EngineContext;
  state: DiffState;
  ref: MigrationRef;
  diff: Diff;
  migration: Migration;
  tables: readonly MigrationTable[];
  tuning: DiffTuning;
  signal: AbortSignal;
}

interface Portion {
  chunks: PlannedChunk[];
  /** The table is cut to its end. */
  planned: boolean;
}

export class DiffPlanner {
  private readonly options: PlannerOptions;
  private readonly sides: Sides;
  private announced = 0;

  constructor(options: PlannerOptions) {
    this.options = options;
    this.sides = new Sides(options.context, options.ref, options.migration.spec.source, options.signal);
  }

  /** Records which tables are compared. Safe to repeat. */
  async begin(): Promise<void> {
    const { context, state, ref, diff, tables, signal } = this.options;
    const { selected, unknown } = selectTables(tables, diff.options.tables);
    if (unknown.length > 0) throw new DroverError("NOT_FOUND", `migration ${ref.migration} has no table ${unknown.join(", ")}`);
    await context.connections.transaction(ref.target, "target", signal, async (session) => {
      const entries = selected.map((t) => ({ number: t.number, rowsEstimated: t.rowsEstimated, notes: comparisonNotes(t.definition) }));
      if (entries.length > 0) await state.tables.add(session, ref.migration, diff.id, entries);
      await state.diffs.changeState(session, ref.migration, diff.id, ["pending"], "running");
    });
  }

  /**
   * Cuts chunks until enough are pending, or all tables are cut.
   * @param onChunks called now and then when there are new ones, so that their comparison does not wait for the rest
   */
  async advance(onChunks: () => Promise<void>): Promise<void> {
    const { state, ref, diff, tuning, signal } = this.options;
    for (;;) {
      throwIfAborted(signal);
      const [tables, pending] = await this.sides.use("target", async (session) => [
        await state.tables.list(session, ref.migration, diff.id),
        await state.chunks.pending(session, ref.migration, diff.id, tuning.planAhead),
      ]);
      const unplanned = tables.filter((t) => !t.planned);
      if (unplanned.length === 0 || pending.length >= tuning.planAhead) return;
      let room = tuning.planAhead - pending.length;
      let progress = false;
      const lane = async () => {
        for (let table = unplanned.shift(); table && room > 0; table = unplanned.shift()) {
          // A row limit is for the whole diff, so that what other tables were given must be known.
          const limit = diff.options.maxRows === null ? null : diff.options.maxRows - (await this.rowsPlanned());
          const cut = await this.advanceTable(table, limit);
          room -= cut ?? 0;
          progress ||= cut !== null;
          if (cut !== null) await this.announce(onChunks);
        }
      };
      const lanes = await Promise.allSettled(Array.from({ length: diff.options.maxRows === null ? LANES : 1 }, lane));
      const failed = lanes.find((l) => l.status === "rejected");
      if (failed) throw failed.reason;
      // Every table waits for the speed of its first chunks.
      if (!progress) return;
    }
  }

  private async announce(onChunks: () => Promise<void>): Promise<void> {
    if (Date.now() - this.announced < ANNOUNCEMENT) return;
    this.announced = Date.now();
    await onChunks();
  }

  private async rowsPlanned(): Promise<number> {
    const { state, ref, diff } = this.options;
    const tables = await this.sides.use("target", (session) => state.tables.list(session, ref.migration, diff.id));
    return tables.reduce((sum, table) => sum + table.rowsPlanned, 0);
  }

  /** Cuts one portion of a table; returns the number of its chunks, or null when it waits for the table's first chunks. */
  private async advanceTable(table: DiffTable, limit: number | null): Promise<number | null> {
    const { context, state, ref, diff, tables, tuning, signal } = this.options;
    const of = tables.find((t) => t.number === table.number);
    if (of === undefined) throw new DroverError("NOT_FOUND", `migration ${ref.migration} has no table ${table.number}: it was removed`);
    const { speed, pending } = await this.sides.use("target", async (session) => ({
      speed: await state.chunks.recentSpeed(session, ref.migration, diff.id, table.number),
      pending: await state.chunks.countPending(session, ref.migration, diff.id, table.number, tuning.planAhead),
    }));
    const room = (speed === null ? FIRST_CHUNKS : PORTION) - pending;
    if (room <= 0) return null;
    const portion = await this.cut(subjectOf(of, diff.options), table, { rows: this.chunkRows(of, speed), chunks: room, limit });
    await context.connections.transaction(ref.target, "target", signal, async (session) => {
      if (!(await state.tables.recordPlan(session, ref.migration, diff.id, table, portion.chunks, portion.planned)))
        throw new DroverError("SERVER_BUSY", `diff ${diff.id}: another worker cut the same chunks, or the diff was deleted`);
      await state.chunks.add(session, ref.migration, diff.id, table.number, table.nextNumber, portion.chunks);
      await state.diffs.recordPlanProgress(session, ref.migration, diff.id);
    });
    return portion.chunks.length;
  }

  private chunkRows(table: MigrationTable, speed: number | null): number {
    const { tuning } = this.options;
    const bytes = table.definition.rowBytesEstimated;
    const byBytes = bytes > 0 ? tuning.maxBytes / bytes : tuning.maxRows;
    const share = Math.max(tuning.firstRows, table.definition.rowsEstimated / SHARES);
    const rows = speed === null ? tuning.firstRows : Math.min(share, speed * tuning.statementTime);
    return Math.max(1, Math.floor(Math.min(rows, tuning.maxRows, byBytes)));
  }

  private async cut(subject: Subject, table: DiffTable, size: { rows: number; chunks: number; limit: number | null }): Promise<Portion> {
    // Without a key it is compared whole, or, where a row limit does not allow that, not at all.
    if (subject.source.key === null) {
      const whole = { lower: null, upper: null, rows: Math.max(1, table.rowsEstimated) };
      return { chunks: size.limit === null || table.rowsEstimated <= size.limit ? [whole] : [], planned: true };
    }
    if (size.limit === null) {
      const reused = await this.reuse(subject, table, size);
      if (reused.length > 0) return { chunks: reused, planned: false };
    }
    return await this.walk(subject, table, size);
  }

  /** Chunks from the copy's bounds; none where there are none, or where they do not fit any more. */
  private async reuse(subject: Subject, table: DiffTable, size: { rows: number; chunks: number }): Promise<PlannedChunk[]> {
    const { context, state, ref, diff, tuning } = this.options;
    const copied = await this.sides.use("target", (session) => copiedChunks(session, context.state.schema, ref.migration, table.number));
    const chunks = mergeChunks(copied, table.plannedTo, { rows: size.rows, bytes: tuning.maxBytes, chunks: size.chunks });
    if (chunks.length === 0) return chunks;
    const edge = table.plannedTo === null ? chunks : [{ lower: null, upper: table.plannedTo, rows: 0 }, ...chunks];
    if (!(await this.sides.use("source", (session) => boundsRise(session, subject.source, edge)))) return [];
    if (table.nextNumber === 1 && subject.where === null) {
      // What was counted is better than the server's estimate.
      const rows = copied.reduce((sum, chunk) => sum + chunk.rows, 0);
      await this.sides.use("target", (session) => state.tables.setEstimate(session, ref.migration, diff.id, table.number, rows));
    }
    return chunks;
  }

  /** Chunks by keyset steps on the source. */
  private async walk(subject: Subject, table: DiffTable, size: { rows: number; chunks: number; limit: number | null }): Promise<Portion> {
    const chunks: PlannedChunk[] = [];
    let lower = table.plannedTo;
    let left = size.limit ?? Infinity;
    while (chunks.length < Math.min(size.chunks, WALK)) {
      if (left <= 0) return { chunks, planned: true };
      const rows = Math.min(size.rows, left);
      const upper = await this.step(subject, lower, rows);
      if (upper === null) {
        const estimate = table.rowsEstimated - table.rowsPlanned - chunks.reduce((sum, chunk) => sum + chunk.rows, 0);
        chunks.push({ lower, upper: null, rows: size.limit === null ? Math.max(1, Math.min(rows, estimate)) : rows });
        return { chunks, planned: true };
      }
      chunks.push({ lower, upper, rows });
      lower = upper;
      left -= rows;
    }
    return { chunks, planned: false };
  }

  /** A step that takes too long is made smaller; a single row must be reachable. */
  private async step(subject: Subject, after: Buffer | null, rows: number): Promise<Buffer | null> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await boundaryKey(this.sides, "source", subject, { after, upTo: null, rows });
      } catch (error) {
        if (!(error instanceof DroverError) || error.code !== "SERVER_BUSY" || attempt >= 3) throw error;
        await sleep(100 * attempt, this.options.signal);
      }
    }
  }
}
