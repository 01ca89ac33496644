/**
 * The DDL journal: per migration the statement of the source that is being executed on the target, and what the target's
 * tables looked like before. DDL cannot share a transaction with the fence; after a crash in between, the difference between
 * these shapes and those of now tells whether the statement was executed.
 */
import { identifier, sql, type ByteSql } from "../mysql/bytes.js";
import type { Session } from "../mysql/session.js";
import { NOW, id, json, text, textOf } from "./values.js";

export interface DdlEntry {
  /** The source transaction that the statement is. */
  gtid: string;
  /** Shapes of the target's tables before the statement, in the order of the plan; null for a table that was not there. */
  shapes: (string | null)[];
  /** Nobody could tell whether it was executed: its tables are dropped and copied anew. */
  startOver: boolean;
}

export class DdlJournalStore {
  private readonly table: ByteSql;

  constructor(schema: string) {
    this.table = `${identifier(schema)}.ddl_journal` as ByteSql;
  }

  async read(session: Session, migration: string): Promise<DdlEntry | null> {
    const [row] = await session.rows(sql`SELECT gtid, shapes, start_over FROM ${this.table} WHERE migration=${id(migration)}`);
    return row ? { gtid: textOf(row, "gtid"), shapes: JSON.parse(textOf(row, "shapes")) as (string | null)[], startOver: row["start_over"] === "1" } : null;
  }

  /** Records that a statement begins. */
  async begin(session: Session, migration: string, entry: Omit<DdlEntry, "startOver">): Promise<void> {
    await session.run(sql`REPLACE INTO ${this.table} (migration, gtid, shapes, started_at) VALUES (${id(migration)}, ${text(entry.gtid)}, ${json(entry.shapes)}, ${NOW})`);
  }

  async setStartOver(session: Session, migration: string): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET start_over=1 WHERE migration=${id(migration)}`);
  }

  async remove(session: Session, migration: string): Promise<void> {
    await session.run(sql`DELETE FROM ${this.table} WHERE migration=${id(migration)}`);
  }
}
