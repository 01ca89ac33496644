/** The tables that a diff compares: how far each is cut into chunks. */
import { identifier, sql, type ByteSql } from "../mysql/bytes.js";
import type { Session } from "../mysql/session.js";
import { blob, blobOf, hexOf, id, json, numberOf } from "./values.js";

export interface DiffTable {
  number: number;
  planned: boolean;
  /** The upper bound of the last chunk cut so far; null before the first. */
  plannedTo: Buffer | null;
  nextNumber: number;
  rowsPlanned: number;
  rowsEstimated: number;
  /** What a reader of the report must know: exceptions of the comparison by bytes. */
  notes: string[];
}

export interface PlannedChunk {
  lower: Buffer | null;
  upper: Buffer | null;
  rows: number;
}

export class DiffTableStore {
  private readonly table: ByteSql;

  constructor(schema: string) {
    this.table = `${identifier(schema)}.diff_tables` as ByteSql;
  }

  async add(session: Session, migration: string, diff: string, tables: readonly { number: number; rowsEstimated: number; notes: string[] }[]): Promise<void> {
    const values = tables.map((t) => sql`(${id(migration)}, ${id(diff)}, ${t.number}, ${t.rowsEstimated}, ${json(t.notes)})`).join(", ") as ByteSql;
    await session.run(sql`INSERT IGNORE INTO ${this.table} (migration, diff, table_number, rows_estimated, notes) VALUES ${values}`);
  }

  async list(session: Session, migration: string, diff: string): Promise<DiffTable[]> {
    const rows = await session.rows(sql`SELECT table_number, planned, ${hexOf("planned_to")}, next_number, rows_planned, rows_estimated, notes FROM ${this.table}
      WHERE migration=${id(migration)} AND diff=${id(diff)} ORDER BY table_number`);
    return rows.map((row) => ({
      number: numberOf(row, "table_number"),
      planned: row["planned"] === "1",
      plannedTo: blobOf(row, "planned_to"),
      nextNumber: numberOf(row, "next_number"),
      rowsPlanned: numberOf(row, "rows_planned"),
      rowsEstimated: numberOf(row, "rows_estimated"),
      notes: row["notes"] == null ? [] : (JSON.parse(row["notes"]) as string[]),
    }));
  }

  /**
   * Records how far the table is cut, if it still stands where this planner found it.
   * @returns false when another planner was faster: the chunks cut here must be rolled back
   */
  async recordPlan(session: Session, migration: string, diff: string, before: DiffTable, chunks: readonly PlannedChunk[], planned: boolean): Promise<boolean> {
    const last = chunks.at(-1);
    const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0);
    const done = await session.run(sql`UPDATE ${this.table} SET planned=${planned ? 1 : 0}, planned_to=${blob(last ? last.upper : before.plannedTo)},
        next_number=${before.nextNumber + chunks.length}, rows_planned=rows_planned+${rows}, rows_estimated=GREATEST(rows_estimated, rows_planned)
      WHERE migration=${id(migration)} AND diff=${id(diff)} AND table_number=${before.number} AND planned=0 AND next_number=${before.nextNumber}`);
    return done.affectedRows === 1;
  }

  /** From its beginning. Numbers of chunks go on: whoever was cutting it finds another next one. */
  async cutAnew(session: Session, migration: string, diff: string, table: number): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET planned=0, planned_to=NULL, next_number=next_number+1, rows_planned=0 WHERE migration=${id(migration)} AND diff=${id(diff)} AND table_number=${table}`);
  }

  /** Whether every table is cut to its end. */
  async allPlanned(session: Session, migration: string, diff: string): Promise<boolean> {
    return (await session.rows(sql`SELECT 1 FROM ${this.table} WHERE migration=${id(migration)} AND diff=${id(diff)} AND planned=0 LIMIT 1`)).length === 0;
  }

  async remove(session: Session, migration: string, diff: string): Promise<void> {
    await session.run(sql`DELETE FROM ${this.table} WHERE migration=${id(migration)} AND diff=${id(diff)}`);
  }
}
