/** The chunks of a migration: half-open key ranges `(lower, upper]`, done or not. */
import type { KeyRange } from "../keys/key-predicate.js";
import { identifier, sql, type ByteSql } from "../mysql/bytes.js";
import type { Session } from "../mysql/session.js";
import { NOW, blob, blobOf, hexOf, id, numberOf } from "./values.js";

export interface Chunk extends KeyRange {
  table: number;
  number: number;
  done: boolean;
  attempts: number;
}

export interface ChunkResult {
  rows: number;
  bytes: number;
  readMs: number;
  writeMs: number;
}

/** Sums over the chunks of one table. */
export interface ChunkTotals {
  table: number;
  total: number;
  done: number;
  rows: number;
  bytes: number;
}

export class ChunkStore {
  private readonly table: ByteSql;

  constructor(schema: string) {
    this.table = `${identifier(schema)}.chunks` as ByteSql;
  }

  async add(session: Session, migration: string, table: number, firstNumber: number, ranges: readonly KeyRange[]): Promise<void> {
    if (ranges.length === 0) return;
    const values = ranges.map((range, i) => sql`(${id(migration)}, ${table}, ${firstNumber + i}, ${blob(range.lower)}, ${blob(range.upper)}, 'pending')`).join(", ") as ByteSql;
    await session.run(sql`INSERT INTO ${this.table} (migration, table_number, number, lower_key, upper_key, state) VALUES ${values}`);
  }

  async read(session: Session, migration: string, table: number, number: number): Promise<Chunk | null> {
    const [row] = await session.rows(sql`SELECT ${hexOf("lower_key")}, ${hexOf("upper_key")}, state, attempts FROM ${this.table}
      WHERE migration=${id(migration)} AND table_number=${table} AND number=${number}`);
    if (!row) return null;
    return { table, number, lower: blobOf(row, "lower_key"), upper: blobOf(row, "upper_key"), done: row["state"] === "done", attempts: numberOf(row, "attempts") };
  }

  /** Keeps others from marking a chunk done until the transaction ends. @returns false when it is done already, or gone */
  async lockPending(session: Session, migration: string, chunk: Chunk): Promise<boolean> {
    const rows = await session.rows(sql`SELECT number FROM ${this.table} WHERE migration=${id(migration)} AND table_number=${chunk.table} AND number=${chunk.number} AND state='pending' FOR UPDATE`);
    return rows.length === 1;
  }

  /** The next chunks to copy, over all tables, in order. */
  async pending(session: Session, migration: string, limit: number): Promise<{ table: number; number: number }[]> {
    const rows = await session.rows(sql`SELECT table_number, number FROM ${this.table} WHERE migration=${id(migration)} AND state='pending' ORDER BY table_number, number LIMIT ${limit}`);
    return rows.map((row) => ({ table: numberOf(row, "table_number"), number: numberOf(row, "number") }));
  }

  /** Pending chunks of one table, counted up to `limit`. */
  async countPending(session: Session, migration: string, table: number, limit: number): Promise<number> {
    const [row] = await session.rows(sql`SELECT COUNT(*) AS n FROM (SELECT 1 FROM ${this.table} WHERE migration=${id(migration)} AND state='pending' AND table_number=${table} LIMIT ${limit}) AS p`);
    return row ? numberOf(row, "n") : 0;
  }

  async nextNumber(session: Session, migration: string, table: number): Promise<number> {
    const [row] = await session.rows(sql`SELECT COALESCE(MAX(number), 0) + 1 AS n FROM ${this.table} WHERE migration=${id(migration)} AND table_number=${table}`);
    return row ? numberOf(row, "n") : 1;
  }

  /**
   * Marks a chunk done inside the transaction that wrote its rows; `upper` is where the read ended.
   * @returns false when it was not pending any more
   */
  async finish(session: Session, migration: string, chunk: Chunk, result: ChunkResult, upper: Buffer | null): Promise<boolean> {
    const done = await session.run(sql`UPDATE ${this.table} SET state='done', upper_key=${blob(upper)}, row_count=${result.rows}, byte_count=${result.bytes},
      read_ms=${result.readMs}, write_ms=${result.writeMs}, done_at=${NOW}
      WHERE migration=${id(migration)} AND table_number=${chunk.table} AND number=${chunk.number} AND state='pending'`);
    return done.affectedRows === 1;
  }

  /** Counts a failed attempt; returns how many there were. */
  async countAttempt(session: Session, migration: string, table: number, number: number): Promise<number> {
    await session.run(sql`UPDATE ${this.table} SET attempts=attempts+1 WHERE migration=${id(migration)} AND table_number=${table} AND number=${number}`);
    return (await this.read(session, migration, table, number))?.attempts ?? 0;
  }

  /** Whoever takes a migration up again has seen to what made a chunk poison: each may fail as often as before. */
  async forgetAttempts(session: Session, migration: string): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET attempts=0 WHERE migration=${id(migration)} AND state='pending' AND attempts>0`);
  }

  /** Averages of a table's latest finished chunks, for the size of the next ones; null before the first. */
  async recent(session: Session, migration: string, table: number): Promise<{ rowBytes: number; rowMs: number } | null> {
    const [row] = await session.rows(sql`SELECT SUM(row_count) AS n, SUM(byte_count) AS bytes, SUM(read_ms + write_ms) AS ms FROM
      (SELECT row_count, byte_count, read_ms, write_ms FROM ${this.table} WHERE migration=${id(migration)} AND table_number=${table} AND state='done' ORDER BY number DESC LIMIT 8) AS r`);
    const rows = row ? numberOf(row, "n") : 0;
    return row && rows > 0 ? { rowBytes: numberOf(row, "bytes") / rows, rowMs: numberOf(row, "ms") / rows } : null;
  }

  async totals(session: Session, migration: string): Promise<ChunkTotals[]> {
    const rows = await session.rows(sql`SELECT table_number, COUNT(*) AS total, SUM(state='done') AS done, SUM(row_count) AS n, SUM(byte_count) AS bytes FROM ${this.table} WHERE migration=${id(migration)} GROUP BY table_number`);
    return rows.map((row) => ({ table: numberOf(row, "table_number"), total: numberOf(row, "total"), done: numberOf(row, "done"), rows: numberOf(row, "n"), bytes: numberOf(row, "bytes") }));
  }

  /** Rows copied per second over the last ten seconds. */
  async rate(session: Session, migration: string): Promise<number> {
    const [row] = await session.rows(sql`SELECT COALESCE(SUM(row_count), 0) / GREATEST(1, LEAST(10, TIMESTAMPDIFF(MICROSECOND, MIN(done_at), ${NOW}) / 1e6)) AS rate FROM ${this.table}
      WHERE migration=${id(migration)} AND state='done' AND done_at > ${NOW} - INTERVAL 10 SECOND`);
    return row ? numberOf(row, "rate") : 0;
  }

  async removeTable(session: Session, migration: string, table: number): Promise<void> {
    await session.run(sql`DELETE FROM ${this.table} WHERE migration=${id(migration)} AND table_number=${table}`);
  }

  async removeAll(session: Session, migration: string): Promise<void> {
    await session.run(sql`DELETE FROM ${this.table} WHERE migration=${id(migration)}`);
  }
}
