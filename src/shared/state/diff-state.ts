/** The diff's part of the state schema: its stores, one per noun. */
import { DroverError } from "../errors.js";
import type { Session } from "../mysql/session.js";
import { DiffChunkStore } from "./diff-chunks.js";
import { DiffRowStore } from "./diff-rows.js";
import { DiffTableStore } from "./diff-tables.js";
import { DiffStore } from "./diffs.js";

export class DiffState {
  readonly diffs: DiffStore;
  readonly tables: DiffTableStore;
  readonly chunks: DiffChunkStore;
  readonly rows: DiffRowStore;

  constructor(schema: string) {
    this.diffs = new DiffStore(schema);
    this.tables = new DiffTableStore(schema);
    this.chunks = new DiffChunkStore(schema);
    this.rows = new DiffRowStore(schema);
  }

  /**
   * The table's rows have another key: ranges and keys of the old one mean nothing any more. A diff that has not found its result cuts the table anew;
   * a result stays, without the rows' keys, and is not repaired. In the transaction that records the new definition.
   */
  async keyAltered(session: Session, migration: string, table: number): Promise<void> {
    for (const { diff, state } of await this.diffs.lockAll(session, migration)) {
      if (state !== "completed") {
        await this.tables.cutAnew(session, migration, diff, table);
        await this.chunks.removeTable(session, migration, diff, table);
      } else if (!(await this.chunks.refuseRepair(session, migration, diff, table, keyIsAnother()))) continue;
      await this.rows.removeTable(session, migration, diff, table);
    }
  }

  /** Forgets one diff, in the caller's transaction. */
  async remove(session: Session, migration: string, diff: string): Promise<void> {
    await this.diffs.remove(session, migration, diff);
    await this.tables.remove(session, migration, diff);
    await this.chunks.remove(session, migration, diff);
    await this.rows.remove(session, migration, diff);
  }
}

function keyIsAnother(): DroverError {
  return new DroverError("STATEMENT_REFUSED", "the table has another key than it was compared by, so that nobody can tell which of its rows differed", { cure: "compare again, and repair that diff" });
}
