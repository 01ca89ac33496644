/**
 * The fence: one row per migration that says how far the target has come. Every write of rows on the target takes a
 * lock on it and checks it inside its own transaction (I3), so a zombie's write finds another value and undoes itself.
 *
 * `seq` counts applied batches; `epoch` changes when work under way must become void without a batch
 * (docs/protocol.md, "Words", says when).
 */
import { DroverError } from "../errors.js";
import { identifier, sql, type ByteSql } from "../mysql/bytes.js";
import type { Session } from "../mysql/session.js";
import { NOW, id, isoOf, numberOf, text, textOf } from "./values.js";

export interface Fence {
  epoch: number;
  seq: number;
  position: string;
  /** The backlog reached its limit during the copy: applying goes first until it is drained. */
  draining: boolean;
  /**
   * The latest batch was a part of a transaction. That transaction is in the binlog, but a SELECT need not see it yet: what is
   * read now could be older than the part, and the parts to come do not bring it back. So nothing is read for the target
   * until the transaction is whole.
   */
  partial: boolean;
  appliedRows: number;
  appliedTransactions: number;
  rowsPerSecond: number;
  /** Commit time on the source of the latest applied transaction, milliseconds since the epoch; 0 before the first. */
  sourceTime: number;
  updatedAt: string;
}

export interface FenceAdvance {
  partial: boolean;
  seq: number;
  position: string;
  rows: number;
  transactions: number;
  rowsPerSecond: number;
  sourceTime: number;
}

export class FenceStore {
  private readonly table: ByteSql;

  constructor(schema: string) {
    this.table = `${identifier(schema)}.fence` as ByteSql;
  }

  /** The first epoch is the time: that of a removed migration of the same id, whose zombies may still wake, never comes again. */
  async create(session: Session, migration: string, position: string): Promise<void> {
    await session.run(sql`INSERT IGNORE INTO ${this.table} (migration, epoch, seq, position, updated_at)
      VALUES (${id(migration)}, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED), 0, ${text(position)}, ${NOW})`);
  }

  /** @param lock `share` for chunk writes (they may run side by side), `update` for whoever moves the fence */
  async read(session: Session, migration: string, lock: "none" | "share" | "update" = "none"): Promise<Fence | null> {
    const suffix = (lock === "none" ? "" : lock === "share" ? " LOCK IN SHARE MODE" : " FOR UPDATE") as ByteSql;
    const [row] = await session.rows(sql`SELECT * FROM ${this.table} WHERE migration=${id(migration)}${suffix}`);
    if (!row) return null;
    return {
      epoch: numberOf(row, "epoch"),
      seq: numberOf(row, "seq"),
      position: textOf(row, "position"),
      draining: row["draining"] === "1",
      partial: row["partial"] === "1",
      appliedRows: numberOf(row, "applied_rows"),
      appliedTransactions: numberOf(row, "applied_transactions"),
      rowsPerSecond: numberOf(row, "rows_per_second"),
      sourceTime: numberOf(row, "source_time"),
      updatedAt: isoOf(row, "updated_at") ?? "",
    };
  }

  /** The fence, which must be there. @throws DroverError NOT_FOUND */
  async require(session: Session, migration: string, lock: "none" | "share" | "update" = "none"): Promise<Fence> {
    const fence = await this.read(session, migration, lock);
    if (!fence) throw new DroverError("NOT_FOUND", `migration ${migration} has no fence: it was removed`);
    return fence;
  }

  /** Moves the fence inside the caller's transaction, which holds its lock. */
  async advance(session: Session, migration: string, to: FenceAdvance): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET seq=${to.seq}, partial=${to.partial ? 1 : 0}, position=${text(to.position)}, applied_rows=applied_rows+${to.rows},
      applied_transactions=applied_transactions+${to.transactions}, rows_per_second=${to.rowsPerSecond}, source_time=${to.sourceTime}, updated_at=${NOW}
      WHERE migration=${id(migration)}`);
  }

  /** Makes all work under way void. */
  async bumpEpoch(session: Session, migration: string): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET epoch=epoch+1, updated_at=${NOW} WHERE migration=${id(migration)}`);
  }

  async setDraining(session: Session, migration: string, draining: boolean): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET draining=${draining ? 1 : 0} WHERE migration=${id(migration)}`);
  }
}
