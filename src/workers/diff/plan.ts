/**
 * Cuts the tables of a diff into chunks, portion after portion, ahead of the comparison. A portion is sized by how long the
 * hashes of the table's latest chunks took.
 */
import { throwIfAborted } from "../../shared/abort.js";
import { DroverError } from "../../shared/errors.js";
import { conditions, keyedTable } from "../../shared/keys/chunk-select.js";
import type { KeyRange } from "../../shared/keys/key-predicate.js";
import { sameKey } from "../../shared/keys/same-key.js";
import { sql } from "../../shared/mysql/bytes.js";
import type { DiffState } from "../../shared/state/diff-state.js";
import type { Diff } from "../../shared/state/diffs.js";
import type { DiffTable, PlannedChunk } from "../../shared/state/diff-tables.js";
import { numberOf } from "../../shared/state/values.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { boundsRise, copiedChunks, mergeChunks, type CopiedChunk } from "./copy-bounds.js";
import { boundaryKey, nearBoundaryKey } from "./cut-range.js";
import { comparisonNotes } from "./notes.js";
import { Sides } from "./sides.js";
import { selectTables, subjectOf, type Subject } from "./subject.js";
import type { DiffTuning } from "./tuning.js";

/** Chunks of a table that are cut before its speed is known. */
const FIRST_CHUNKS = 4;
/** A diff has this many chunks at least, as long as they are not smaller than the first ones: so that many workers have work. */
const SHARES = 48;
/** The slowest of the latest hashes may take so many times as long as all should: one that came near a second makes the next ones smaller. */
const SLOWEST = 1.5;
/** Chunks that one transaction records. */
const PORTION = 64;
/** Of those that are walked: each costs a look at the source, and the comparison should begin meanwhile. */
const WALK = 8;
/** Tables that are cut at the same time: mostly waiting for one server or the other, and many tables are small. */
const LANES = 16;
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

type Speed = { average: number; slowest: number };

interface PortionSize {
  /** Of a chunk. */
  rows: number;
  bytes: number;
  chunks: number;
  /** Rows in all, at most. */
  limit: number | null;
}

interface Portion {
  chunks: PlannedChunk[];
  /** The table is cut to its end. */
  planned: boolean;
}

export class DiffPlanner {
  private readonly options: PlannerOptions;
  private readonly sides: Sides;
  /** The copy's chunks of tables that are being cut, by number. */
  private readonly copied = new Map<number, CopiedChunk[]>();
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
      // What the copy counted is better than the server's estimate.
      const copied = new Map((await context.state.chunks.totals(session, ref.migration)).map((t) => [t.table, t.rows]));
      const entries = selected.map((t) => ({ number: t.number, rowsEstimated: copied.get(t.number) || t.rowsEstimated, notes: comparisonNotes(t.definition) }));
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
    const { speed, pending } = table.nextNumber === 1 ? { speed: null, pending: 0 } : await this.sides.use("target", (session) => state.chunks.recent(session, ref.migration, diff.id, table.number, tuning.planAhead));
    const room = (speed === null ? FIRST_CHUNKS : PORTION) - pending;
    if (room <= 0) return null;
    const portion = await this.cut(subjectOf(ref.migration, of, diff.options), table, { ...this.chunkSize(of, speed), chunks: room, limit });
    await context.connections.transaction(ref.target, "target", signal, async (session) => {
      if (!(await state.tables.recordPlan(session, ref.migration, diff.id, table, portion.chunks, portion.planned)))
        throw new DroverError("SERVER_BUSY", `diff ${diff.id}: another worker cut the same chunks, or the diff was deleted`);
      // Cut by a key that is another by now, the chunks would mean nothing.
      const now = await context.state.tables.read(session, ref.migration, table.number);
      if (now === null || !sameKey(now.definition, of.definition)) throw new DroverError("TABLE_CHANGED", `${of.source.schema}.${of.source.table} got another key while it was cut into chunks`);
      await state.chunks.add(session, ref.migration, diff.id, table.number, table.nextNumber, portion.chunks);
      if (diff.planFailures > 0) await state.diffs.recordPlanProgress(session, ref.migration, diff.id);
    });
    return portion.chunks.length;
  }

  /** Rows and bytes of the next chunks. */
  private chunkSize(table: MigrationTable, speed: Speed | null): { rows: number; bytes: number } {
    const { tuning, tables, diff } = this.options;
    const bytes = speed === null ? tuning.firstBytes : tuning.maxBytes;
    const rowBytes = table.definition.rowBytesEstimated;
    const all = selectTables(tables, diff.options.tables).selected.reduce((sum, t) => sum + t.rowsEstimated, 0);
    const share = Math.max(tuning.firstRows, all / SHARES);
    const timely = speed === null ? tuning.firstRows : tuning.statementTime * Math.min(speed.average, SLOWEST * speed.slowest);
    const rows = Math.min(share, timely, tuning.maxRows, rowBytes > 0 ? bytes / rowBytes : tuning.maxRows);
    return { rows: Math.max(1, Math.floor(rows)), bytes };
  }

  private async cut(subject: Subject, table: DiffTable, size: PortionSize): Promise<Portion> {
    // Without a key it is compared whole, or, where a row limit does not allow that, not at all.
    if (subject.source.key === null) {
      const whole = { lower: null, upper: null, rows: Math.max(1, table.rowsEstimated) };
      return { chunks: size.limit === null || table.rowsEstimated <= size.limit ? [whole] : [], planned: true };
    }
    const reused = size.limit === null ? await this.reuse(subject, table, size) : [];
    const last = reused.at(-1);
    if (last === undefined) return await this.walk(subject, table, size);
    if (reused.length >= size.chunks) return { chunks: reused, planned: false };
    // Few rows, or none, came in behind the copy: the last chunk takes them, and small tables are one chunk.
    const { key } = await this.step(subject, last.upper, Math.max(1, size.rows - last.rows));
    if (key === null) last.upper = null;
    return { chunks: reused, planned: key === null };
  }

  /** Chunks from the copy's bounds; none where there are none, or where they do not fit any more. */
  private async reuse(subject: Subject, table: DiffTable, size: PortionSize): Promise<PlannedChunk[]> {
    const { context, ref } = this.options;
    // Read once: portion after portion goes along the same chain, which may be long.
    const copied = this.copied.get(table.number) ?? (await this.sides.use("target", (session) => copiedChunks(session, context.state.schema, ref.migration, table.number)));
    this.copied.set(table.number, copied);
    const chunks = mergeChunks(copied, table.plannedTo, size);
    if (chunks.length < size.chunks) this.copied.delete(table.number);
    if (chunks.length === 0) return chunks;
    const edge = table.plannedTo === null ? chunks : [{ lower: null, upper: table.plannedTo, rows: 0 }, ...chunks];
    if (!(await this.sides.use("source", (session) => boundsRise(session, subject.source, edge)))) return [];
    return chunks;
  }

  /** Chunks by keyset steps on the source. */
  private async walk(subject: Subject, table: DiffTable, size: PortionSize): Promise<Portion> {
    const chunks: PlannedChunk[] = [];
    let lower = table.plannedTo;
    let left = size.limit ?? Infinity;
    while (chunks.length < Math.min(size.chunks, WALK)) {
      if (left <= 0) return { chunks, planned: true };
      const step = await this.step(subject, lower, size.limit === null || subject.where !== null ? size.rows : Math.min(size.rows, left));
      let { key, rows } = step;
      const end = key === null;
      if (size.limit !== null && subject.where !== null) {
        // At least one: a row may come in, and a chunk without any cannot be cut to its number.
        rows = Math.max(1, await this.count(subject, { lower, upper: key }));
        if (rows > left) {
          key = await boundaryKey(this.sides, "source", subject, { after: lower, upTo: key, rows: left });
          rows = left;
        }
      } else if (end && size.limit === null) {
        const estimate = table.rowsEstimated - table.rowsPlanned - chunks.reduce((sum, chunk) => sum + chunk.rows, 0);
        rows = Math.max(1, Math.min(rows, estimate));
      }
      chunks.push({ lower, upper: key, rows });
      if (end) return { chunks, planned: true };
      lower = key;
      left -= rows;
    }
    return { chunks, planned: false };
  }

  /** A step of so many rows, whatever the filter says of them: it takes no longer where the filter leaves few. */
  private step(subject: Subject, after: Buffer | null, rows: number): Promise<{ key: Buffer | null; rows: number }> {
    return nearBoundaryKey(this.sides, "source", { ...subject, where: null }, { after, upTo: null, rows }, this.options.tuning.statementLimit);
  }

  /** Source rows of a range that pass the filter. */
  private count(subject: Subject, range: KeyRange): Promise<number> {
    return this.sides.read("source", subject, async (session, definition) => {
      const [row] = await session.rows(sql`SELECT COUNT(*) AS n FROM ${keyedTable(definition)}${conditions(definition, { ...range, where: subject.where })}`);
      return row ? numberOf(row, "n") : 0;
    });
  }
}
