/**
 * Copies one chunk (design §4, step 2): read under the fence, write under the fence.
 *
 * I1: rows read at a time are committed only while the fence stands where it stood before the read; the check and the
 * rows share one transaction with the mark "done" (I3).
 */
import { positionCovers } from "../../shared/mysql/position.js";
import { DroverError } from "../../shared/errors.js";
import type { KeyRange } from "../../shared/keys/key-predicate.js";
import { sql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import type { Chunk } from "../../shared/state/chunks.js";
import type { Fence } from "../../shared/state/fence.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { statementBytes } from "../target/checked-write.js";
import { RowBuffer } from "../target/row-buffer.js";
import { RangeClearer } from "./range-clearer.js";
import { readChunk, type ChunkRows } from "./read-chunk.js";
import { readWholeTable, type WholeTable } from "./read-whole-table.js";
import { readError, refusedSinceChanged } from "./table-changed.js";
import { waitUntilVisible } from "../visibility.js";

/** `void`: the migration is not copying at present, or the chunk is done already. */
export type ChunkOutcome = { kind: "copied"; rows: number } | { kind: "void" };

interface ChunkWork {
  migration: Migration;
  fence: Fence;
  table: MigrationTable;
  chunk: Chunk;
  localInfile: boolean;
  statementBytes: number;
  isMariaDb: boolean;
}

/** The server ends a SELECT of ours after 4 s; a read that takes so long ends by itself before that, with what it has (milliseconds). */
const MAX_READ_TIME = 3_000;

export class ChunkCopier {
  private readonly context: EngineContext;
  /** Row buffers at rest, by table: their megabytes are reused. */
  private readonly buffers = new Map<string, RowBuffer[]>();

  constructor(context: EngineContext) {
    this.context = context;
  }

  /** @throws DroverError FENCE_MOVED, TABLE_CHANGED, ROW_REFUSED and those of a session */
  async copy(ref: MigrationRef, table: number, chunk: number, signal: AbortSignal): Promise<ChunkOutcome> {
    const { connections, hooks } = this.context;
    const work = await connections.use(ref.target, "target", signal, (session) => this.load(session, ref, table, chunk));
    if (work === null) return { kind: "void" };
    const detail = { migration: ref.migration, table, chunk };
    const bufferKey = `${ref.target}/${ref.migration}/${table}/${work.table.generation}/${work.localInfile}`;
    const buffer = this.takeBuffer(bufferKey, work);
    try {
      await hooks.at("chunk:before-read", detail);
      const readStart = Date.now();
      const rows = await this.read(work, buffer, signal);
      const writeStart = Date.now();
      await hooks.at("chunk:after-read", detail);
      const times = { readMs: writeStart - readStart, writeStart };
      const written = await connections.use(ref.target, "target", signal, (session) => this.write(session, work, buffer, rows, times)).catch(async (error: unknown) => {
        throw await refusedSinceChanged(this.context, work.migration.spec.source, work.table, error, signal);
      });
      if (written) await hooks.at("chunk:after-commit", { ...detail, rows: rows.rows, bytes: rows.bytes, readMs: times.readMs, writeMs: Date.now() - writeStart });
      return written ? { kind: "copied", rows: rows.rows } : { kind: "void" };
    } finally {
      buffer.reset();
      this.giveBuffer(bufferKey, buffer);
    }
  }

  private async load(session: Session, ref: MigrationRef, tableNumber: number, chunkNumber: number): Promise<ChunkWork | null> {
    const { state } = this.context;
    const migration = await state.migrations.require(session, ref.migration);
    const fence = await state.fence.read(session, ref.migration);
    if (migration.phase !== "copying" || fence === null || fence.draining || fence.partial) return null;
    const table = await state.tables.read(session, ref.migration, tableNumber);
    const chunk = await state.chunks.read(session, ref.migration, tableNumber, chunkNumber);
    if (table === null || chunk === null || chunk.done) return null;
    return { migration, fence, table, chunk, localInfile: session.localInfile, statementBytes: statementBytes(session), isMariaDb: session.isMariaDb };
  }

  private async read(work: ChunkWork, buffer: RowBuffer, signal: AbortSignal): Promise<ChunkRows & Partial<WholeTable>> {
    const { options, source } = work.migration.spec;
    // A chunk was cut to fit; these limits are for one that has grown since, or whose size was guessed wrong.
    const limits = { rows: options.chunkRows * 4, bytes: options.chunkBytes * 2, time: Math.min(MAX_READ_TIME, Math.max(2_000, options.chunkTime * 2)) };
    // Without a key the read is tried until its position is known: a session of its own each time.
    const whole = work.table.definition.key === null;
    const read = await this.context.connections.use(source, "source", signal, async (session) => {
      // Two waits: after a failover neither position need cover the other.
      await waitUntilVisible(session, work.fence.position, signal);
      if (!positionCovers(work.fence.position, work.table.startPosition)) await waitUntilVisible(session, work.table.startPosition, signal);
      if (whole) return null;
      return await readChunk(session, work.table.definition, work.chunk, work.table.where, limits, buffer);
    }).catch(async (error: unknown) => {
      throw await readError(this.context, source, work.table, error, signal);
    });
    if (read !== null) return read;
    return await readWholeTable(this.context, work.migration, work.table, buffer, signal).catch(async (error: unknown) => {
      throw await readError(this.context, source, work.table, error, signal);
    });
  }

  /** @returns false when the chunk was done by somebody else meanwhile */
  private async write(session: Session, work: ChunkWork, buffer: RowBuffer, rows: ChunkRows & Partial<WholeTable>, times: { readMs: number; writeStart: number }): Promise<boolean> {
    const { state, hooks } = this.context;
    const { migration, table, chunk } = work;
    await this.begin(session, work);
    const upper = rows.stoppedAt ?? chunk.upper;
    const whole = table.definition.key === null;
    // Of a table without a key all rows take the place of whatever is there.
    if ((whole || table.overlay) && !(await this.clearRange(session, work, { lower: chunk.lower, upper }))) return false;
    // Its events are followed from where it was read.
    if (whole && rows.position != null) await state.tables.setStartPosition(session, migration.id, table.number, rows.position);
    await buffer.write(session);
    const result = { rows: rows.rows, bytes: rows.bytes, readMs: times.readMs, writeMs: Date.now() - times.writeStart };
    // The mark comes last, so that a double of this job waits for nothing; it finds its own update matches no row.
    const marked = await state.chunks.finish(session, migration.id, chunk, result, upper);
    if (!marked) {
      await session.run(sql`ROLLBACK`);
      return false;
    }
    if (rows.stoppedAt !== null) {
      await state.tables.lock(session, migration.id, table.number);
      const next = await state.chunks.nextNumber(session, migration.id, table.number);
      await state.chunks.add(session, migration.id, table.number, next, [{ lower: rows.stoppedAt, upper: chunk.upper }]);
    }
    await hooks.at("chunk:before-commit", { migration: migration.id, table: table.number, chunk: chunk.number });
    await session.run(sql`COMMIT`);
    return true;
  }

  /** Begins a transaction under the fence of `load`. */
  private async begin(session: Session, { migration, table, chunk, fence: before }: ChunkWork): Promise<void> {
    await session.run(sql`BEGIN`);
    const fence = await this.context.state.fence.require(session, migration.id, "share");
    if (fence.seq !== before.seq || fence.epoch !== before.epoch)
      throw new DroverError("FENCE_MOVED", `the fence of ${migration.id} moved while chunk ${chunk.number} of ${table.source.table} was copied`);
  }

  /**
   * Deletes what the target has in the range, in several transactions when it is much; the last one stays open for the rows. Each looks at
   * the fence and at the chunk's mark: behind another fence rows may be a batch's, and behind the mark those of a double of this job.
   * Whatever is deleted before that comes back, since the chunk is still to be copied.
   * @returns false when the chunk was done by somebody else meanwhile; nothing is open then
   */
  private async clearRange(session: Session, work: ChunkWork, range: KeyRange): Promise<boolean> {
    const { state, hooks } = this.context;
    const { migration, table, chunk } = work;
    const clearer = new RangeClearer(table, range, migration.spec.options);
    for (;;) {
      if (!(await state.chunks.lockPending(session, migration.id, chunk))) {
        await session.run(sql`ROLLBACK`);
        return false;
      }
      const portion = await clearer.clear(session);
      if (portion.last) return true;
      await session.run(sql`COMMIT`);
      await hooks.at("chunk:after-clear", { migration: migration.id, table: table.number, chunk: chunk.number, rows: portion.rows });
      await this.begin(session, work);
    }
  }

  private takeBuffer(key: string, work: ChunkWork): RowBuffer {
    const { definition, target } = work.table;
    return this.buffers.get(key)?.pop() ?? new RowBuffer(definition, target, work);
  }

  private giveBuffer(key: string, buffer: RowBuffer): void {
    // Only the table at work keeps buffers: another table's are of no use for a while.
    if (!this.buffers.has(key)) this.buffers.clear();
    const list = this.buffers.get(key) ?? [];
    list.push(buffer);
    this.buffers.set(key, list);
  }
}
