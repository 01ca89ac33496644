/** The rows that differ: their keys and the names of the differing columns, never their values. Bounded per chunk. */
import { identifier, sql, type ByteSql } from "../mysql/bytes.js";
import type { Session, TextRecord } from "../mysql/session.js";
import { NOW, blob, blobOf, hexOf, id, json, numberOf, textOf } from "./values.js";

export type DifferenceKind = "mismatched" | "missing" | "extra" | "inconclusive";

export interface Difference {
  kind: DifferenceKind;
  /** Text row of the key cells: the source row's, or the target row's when there is no source row. */
  key: Buffer;
  columns: string[];
}

export interface StoredDifference extends Difference {
  table: number;
  chunk: number;
  number: number;
  repaired: boolean;
}

export class DiffRowStore {
  private readonly table: ByteSql;

  constructor(schema: string) {
    this.table = `${identifier(schema)}.diff_rows` as ByteSql;
  }

  /** Puts a chunk's rows in the place of whatever an earlier attempt left. */
  async replace(session: Session, migration: string, diff: string, table: number, chunk: number, rows: readonly Difference[]): Promise<void> {
    await session.run(sql`DELETE FROM ${this.table} WHERE ${this.of(migration, diff)} AND table_number=${table} AND chunk=${chunk}`);
    for (let from = 0; from < rows.length; from += 100) {
      const values = rows
        .slice(from, from + 100)
        .map((row, i) => sql`(${id(migration)}, ${id(diff)}, ${table}, ${chunk}, ${from + i}, ${id(row.kind)}, ${blob(row.key)}, ${json(row.columns)})`)
        .join(", ") as ByteSql;
      await session.run(sql`INSERT INTO ${this.table} (migration, diff, table_number, chunk, number, kind, row_key, columns) VALUES ${values}`);
    }
  }

  /** The first rows of a table. */
  async samples(session: Session, migration: string, diff: string, table: number, limit: number): Promise<StoredDifference[]> {
    if (limit === 0) return [];
    return this.select(session, sql`${this.of(migration, diff)} AND table_number=${table} ORDER BY chunk, number LIMIT ${limit}`);
  }

  /** The tables that have rows. */
  async tables(session: Session, migration: string, diff: string): Promise<Set<number>> {
    const rows = await session.rows(sql`SELECT DISTINCT table_number FROM ${this.table} WHERE ${this.of(migration, diff)}`);
    return new Set(rows.map((row) => numberOf(row, "table_number")));
  }

  /** The rows of one chunk. */
  async ofChunk(session: Session, migration: string, diff: string, table: number, chunk: number): Promise<StoredDifference[]> {
    return this.select(session, sql`${this.of(migration, diff)} AND table_number=${table} AND chunk=${chunk} ORDER BY number`);
  }

  async markRepaired(session: Session, migration: string, diff: string, table: number, chunk: number, numbers: readonly number[]): Promise<void> {
    if (numbers.length === 0) return;
    await session.run(sql`UPDATE ${this.table} SET repaired_at=${NOW} WHERE ${this.of(migration, diff)} AND table_number=${table} AND chunk=${chunk} AND number IN (${numbers.join(",") as ByteSql})`);
  }

  async removeTable(session: Session, migration: string, diff: string, table: number): Promise<void> {
    await session.run(sql`DELETE FROM ${this.table} WHERE ${this.of(migration, diff)} AND table_number=${table}`);
  }

  async remove(session: Session, migration: string, diff: string): Promise<void> {
    await session.run(sql`DELETE FROM ${this.table} WHERE migration=${id(migration)} AND diff=${id(diff)}`);
  }

  private of(migration: string, diff: string): ByteSql {
    return sql`migration=${id(migration)} AND diff=${id(diff)}`;
  }

  private async select(session: Session, where: ByteSql): Promise<StoredDifference[]> {
    const rows = await session.rows(sql`SELECT table_number, chunk, number, kind, ${hexOf("row_key")}, columns, repaired_at IS NOT NULL AS repaired FROM ${this.table} WHERE ${where}`);
    return rows.map(storedOf);
  }
}

function storedOf(row: TextRecord): StoredDifference {
  return {
    table: numberOf(row, "table_number"),
    chunk: numberOf(row, "chunk"),
    number: numberOf(row, "number"),
    kind: textOf(row, "kind") as DifferenceKind,
    key: blobOf(row, "row_key") ?? Buffer.alloc(0),
    columns: JSON.parse(textOf(row, "columns")) as string[],
    repaired: row["repaired"] === "1",
  };
}
