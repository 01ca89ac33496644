/**
 * The chunks of a diff. A chunk is pending until its one result is recorded, and immutable from then on: a retried or
 * resumed chunk replaces and never adds (case 15).
 */
import { errorRecord, type ErrorRecord } from "../errors.js";
import { identifier, sql, type ByteSql } from "../mysql/bytes.js";
import type { Session } from "../mysql/session.js";
import type { PlannedChunk } from "./diff-tables.js";
import { NOW, blob, blobOf, hexOf, id, json, numberOf, text, textOf } from "./values.js";

export type DiffChunkState = "pending" | "equal" | "different" | "failed";

export interface DiffChunk {
  table: number;
  number: number;
  lower: Buffer | null;
  upper: Buffer | null;
  /** Rows in it when it was cut. */
  rowsPlanned: number;
  state: DiffChunkState;
  /** Failures so far. */
  attempts: number;
}

export interface DifferentChunk extends DiffChunk {
  differences: number;
  /** Why it is not repaired; null where it may be. */
  refused: ErrorRecord | null;
}

export interface DiffCounts {
  /** Source rows compared. */
  rows: number;
  matching: number;
  mismatched: number;
  missing: number;
  extra: number;
  inconclusive: number;
}

export interface DiffChunkResult extends DiffCounts {
  /** The source's executed position at the comparison. */
  position: string;
  /** The slower side's hash statement. */
  hashMs: number;
  elapsedMs: number;
}

export interface DiffChunkTotals extends DiffCounts {
  table: number;
  chunks: number;
  pending: number;
  failed: number;
  rowsPlanned: number;
  /** Rows planned in chunks that are done. */
  rowsDone: number;
}

/** A hash that took less says little about the server's speed. */
const TELLING_MS = 50;

const COUNTS = ["rows_compared", "matching", "mismatched", "missing", "extra", "inconclusive"] as const;

export class DiffChunkStore {
  private readonly table: ByteSql;
  private readonly diffs: ByteSql;

  constructor(schema: string) {
    this.diffs = `${identifier(schema)}.diffs` as ByteSql;
    this.table = `${identifier(schema)}.diff_chunks` as ByteSql;
  }

  async add(session: Session, migration: string, diff: string, table: number, firstNumber: number, chunks: readonly PlannedChunk[]): Promise<void> {
    if (chunks.length === 0) return;
    const values = chunks
      .map((c, i) => sql`(${id(migration)}, ${id(diff)}, ${table}, ${firstNumber + i}, ${blob(c.lower)}, ${blob(c.upper)}, ${c.rows}, 'pending')`)
      .join(", ") as ByteSql;
    await session.run(sql`INSERT INTO ${this.table} (migration, diff, table_number, number, lower_key, upper_key, rows_planned, state) VALUES ${values}`);
  }

  async read(session: Session, migration: string, diff: string, table: number, number: number): Promise<DiffChunk | null> {
    const [chunk] = await this.select(session, sql`${this.of(migration, diff)} AND table_number=${table} AND number=${number}`);
    return chunk ?? null;
  }

  /** The next chunks to compare: the tables take turns. */
  async pending(session: Session, migration: string, diff: string, limit: number): Promise<{ table: number; number: number }[]> {
    const rows = await session.rows(sql`SELECT table_number, number FROM ${this.table} WHERE ${this.of(migration, diff)} AND state='pending' ORDER BY number, table_number LIMIT ${limit}`);
    return rows.map((row) => ({ table: numberOf(row, "table_number"), number: numberOf(row, "number") }));
  }

  async firstFailed(session: Session, migration: string, diff: string): Promise<{ table: number; number: number; attempts: number; error: ErrorRecord } | null> {
    const [row] = await session.rows(sql`SELECT table_number, number, attempts, error FROM ${this.table} WHERE ${this.of(migration, diff)} AND state='failed' LIMIT 1`);
    if (!row) return null;
    return { table: numberOf(row, "table_number"), number: numberOf(row, "number"), attempts: numberOf(row, "attempts"), error: JSON.parse(textOf(row, "error")) as ErrorRecord };
  }

  /** Chunks with differences, for repair. */
  async different(session: Session, migration: string, diff: string): Promise<DifferentChunk[]> {
    const rows = await session.rows(sql`SELECT table_number, number, ${hexOf("lower_key")}, ${hexOf("upper_key")}, rows_planned, attempts, error, mismatched+missing+extra AS differences FROM ${this.table}
      WHERE ${this.of(migration, diff)} AND state='different' AND mismatched+missing+extra > 0 ORDER BY table_number, number`);
    return rows.map((row) => ({
      table: numberOf(row, "table_number"), number: numberOf(row, "number"), lower: blobOf(row, "lower_key"), upper: blobOf(row, "upper_key"),
      rowsPlanned: numberOf(row, "rows_planned"), state: "different" as const, attempts: numberOf(row, "attempts"), differences: numberOf(row, "differences"),
      refused: row["error"] == null ? null : (JSON.parse(row["error"]) as ErrorRecord),
    }));
  }

  /** What was found of a table stays, but nothing of it is repaired. @returns whether anything was found */
  async refuseRepair(session: Session, migration: string, diff: string, table: number, reason: unknown): Promise<boolean> {
    const done = await session.run(sql`UPDATE ${this.table} SET error=${json(errorRecord(reason))} WHERE ${this.of(migration, diff)} AND table_number=${table} AND state='different'`);
    return done.affectedRows > 0;
  }

  async removeTable(session: Session, migration: string, diff: string, table: number): Promise<void> {
    await session.run(sql`DELETE FROM ${this.table} WHERE ${this.of(migration, diff)} AND table_number=${table}`);
  }

  /** Records a pending chunk's result. @returns false when it was recorded already, or the diff was stopped or deleted meanwhile */
  async record(session: Session, migration: string, diff: string, chunk: DiffChunk, state: "equal" | "different", result: DiffChunkResult): Promise<boolean> {
    const done = await session.run(sql`UPDATE ${this.table} SET state=${id(state)}, rows_compared=${result.rows}, matching=${result.matching}, mismatched=${result.mismatched},
        missing=${result.missing}, extra=${result.extra}, inconclusive=${result.inconclusive}, position=${text(result.position)}, hash_ms=${result.hashMs},
        elapsed_ms=${result.elapsedMs}, error=NULL, done_at=${NOW}
      WHERE ${this.of(migration, diff)} AND table_number=${chunk.table} AND number=${chunk.number} AND state='pending'
        AND EXISTS (SELECT 1 FROM ${this.diffs} AS d WHERE d.migration=${id(migration)} AND d.diff=${id(diff)} AND d.state='running')`);
    return done.affectedRows === 1;
  }

  /** Counts a failure of a pending chunk; at `limit` failures it ends `failed`. */
  async recordFailure(session: Session, migration: string, diff: string, table: number, number: number, thrown: unknown, limit: number): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET attempts=attempts+1, error=${json(errorRecord(thrown))}, state=IF(attempts >= ${limit}, 'failed', state), done_at=IF(state='failed', ${NOW}, NULL)
      WHERE ${this.of(migration, diff)} AND table_number=${table} AND number=${number} AND state='pending'`);
  }

  /** Lets a resumed diff try its failed chunks again, and all pending ones with a fresh limit. */
  async retryFailed(session: Session, migration: string, diff: string): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET state='pending', attempts=0, done_at=NULL WHERE ${this.of(migration, diff)} AND (state='failed' OR state='pending' AND attempts > 0)`);
  }

  /**
   * How a table gets on: its pending chunks, counted up to `limit`, and the rows per millisecond of the hash statements of its
   * latest finished chunks, of all of them and of the slowest one; null before the first. Rows count as they were cut: with a
   * filter most rows may be read and few compared.
   */
  async recent(session: Session, migration: string, diff: string, table: number, limit: number): Promise<{ pending: number; speed: { average: number; slowest: number } | null }> {
    const of = sql`${this.of(migration, diff)} AND table_number=${table}`;
    const [row] = await session.rows(sql`SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM ${this.table} WHERE ${of} AND state='pending' LIMIT ${limit}) AS p) AS pending,
        SUM(rows_planned) AS n, SUM(hash_ms) AS ms, MIN(IF(hash_ms >= ${TELLING_MS}, rows_planned / hash_ms, NULL)) AS slowest
      FROM (SELECT rows_planned, hash_ms FROM ${this.table} WHERE ${of} AND state IN ('equal','different') AND hash_ms > 0 ORDER BY number DESC LIMIT 8) AS r`);
    const pending = row ? numberOf(row, "pending") : 0;
    if (!row || row["n"] === null) return { pending, speed: null };
    const average = numberOf(row, "n") / Math.max(1, numberOf(row, "ms"));
    return { pending, speed: { average, slowest: row["slowest"] == null ? average : numberOf(row, "slowest") } };
  }

  async totals(session: Session, migration: string, diff: string): Promise<DiffChunkTotals[]> {
    const sums = COUNTS.map((c) => `SUM(${c}) AS ${c}`).join(", ") as ByteSql;
    const rows = await session.rows(sql`SELECT table_number, COUNT(*) AS chunks, SUM(state='pending') AS pending, SUM(state='failed') AS failed,
        SUM(rows_planned) AS rows_planned, SUM(IF(state='pending', 0, rows_planned)) AS rows_done, ${sums}
      FROM ${this.table} WHERE ${this.of(migration, diff)} GROUP BY table_number`);
    return rows.map((row) => ({
      table: numberOf(row, "table_number"), chunks: numberOf(row, "chunks"), pending: numberOf(row, "pending"), failed: numberOf(row, "failed"),
      rowsPlanned: numberOf(row, "rows_planned"), rowsDone: numberOf(row, "rows_done"), rows: numberOf(row, "rows_compared"), matching: numberOf(row, "matching"),
      mismatched: numberOf(row, "mismatched"), missing: numberOf(row, "missing"), extra: numberOf(row, "extra"), inconclusive: numberOf(row, "inconclusive"),
    }));
  }

  /** Planned rows finished per second over the last 20 seconds; null when none was. */
  async rate(session: Session, migration: string, diff: string): Promise<number | null> {
    const [row] = await session.rows(sql`SELECT SUM(rows_planned) AS n, TIMESTAMPDIFF(MICROSECOND, MIN(done_at - INTERVAL elapsed_ms * 1000 MICROSECOND), ${NOW}) / 1e6 AS seconds FROM ${this.table}
      WHERE ${this.of(migration, diff)} AND state IN ('equal','different') AND done_at > ${NOW} - INTERVAL 20 SECOND`);
    const rows = row ? numberOf(row, "n") : 0;
    return row && rows > 0 ? rows / Math.max(0.001, numberOf(row, "seconds")) : null;
  }

  async remove(session: Session, migration: string, diff: string): Promise<void> {
    await session.run(sql`DELETE FROM ${this.table} WHERE migration=${id(migration)} AND diff=${id(diff)}`);
  }

  private of(migration: string, diff: string): ByteSql {
    return sql`migration=${id(migration)} AND diff=${id(diff)}`;
  }

  private async select(session: Session, where: ByteSql): Promise<DiffChunk[]> {
    const rows = await session.rows(sql`SELECT table_number, number, ${hexOf("lower_key")}, ${hexOf("upper_key")}, rows_planned, state, attempts FROM ${this.table} WHERE ${where}`);
    return rows.map((row) => ({
      table: numberOf(row, "table_number"), number: numberOf(row, "number"), lower: blobOf(row, "lower_key"), upper: blobOf(row, "upper_key"),
      rowsPlanned: numberOf(row, "rows_planned"), state: textOf(row, "state") as DiffChunkState, attempts: numberOf(row, "attempts"),
    }));
  }
}
