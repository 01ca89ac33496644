/** The diff's part of the state schema: its stores, one per noun. */
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

  /** Forgets one diff, in the caller's transaction. */
  async remove(session: Session, migration: string, diff: string): Promise<void> {
    await this.diffs.remove(session, migration, diff);
    await this.tables.remove(session, migration, diff);
    await this.chunks.remove(session, migration, diff);
    await this.rows.remove(session, migration, diff);
  }
}
