/**
 * The target server: the table's rows and the state schema. Each method is one statement; what a job does between two
 * `yield`s is one transaction.
 */
import { fold, type Row } from "./source.js";
import type { NetEffect } from "./net-effect.js";

export interface Fence {
  epoch: number;
  seq: number;
  position: number;
  /** Rows are ahead of `position`: of a part of a transaction, or of a batch that is written in several transactions. */
  partial: boolean;
  /** Counts the appliers that announced to write a batch in several transactions. */
  claim: number;
}

export interface Chunk {
  /** Folded keys `(lower, upper]`. */
  lower: string;
  upper: string;
  done: boolean;
}

export class Target {
  private rows = new Map<string, Row>();
  private current: Fence = { epoch: 0, seq: 0, position: 0, partial: false, claim: 0 };
  chunks: Chunk[] = [];
  table: "pending" | "created" | "planned" = "pending";
  /** A lock of the server; it ends with the session that holds it. */
  ddlLocked = false;
  /** The table's own start position: its events at or before it are skipped. */
  tableStart = 0;

  get fence(): Readonly<Fence> {
    return this.current;
  }

  /** Replaces the fence by a later one. */
  moveFence(to: Fence): void {
    const { current } = this;
    if (to.epoch < current.epoch || (to.epoch === current.epoch && (to.seq < current.seq || to.position < current.position)))
      throw new Broken(`the fence went back from ${JSON.stringify(current)} to ${JSON.stringify(to)}`);
    this.current = to;
  }

  /** Makes all work under way void. */
  bumpEpoch(): Readonly<Fence> {
    this.moveFence({ ...this.current, epoch: this.current.epoch + 1 });
    return this.current;
  }

  /** Makes every write of a batch that another applier has begun void, and every chunk read until the batch is whole. */
  claimFence(): Readonly<Fence> {
    this.moveFence({ ...this.current, partial: true, claim: this.current.claim + 1 });
    return this.current;
  }

  /** A migration that was removed and started again; its state begins anew. */
  startAnew(fence: Fence): void {
    this.current = fence;
    this.voidTable();
  }

  voidTable(): void {
    this.chunks = [];
    this.table = "pending";
  }

  /** DROP and CREATE. */
  recreateTable(): void {
    this.rows.clear();
  }

  /** REPLACE pushes out the rows that are equal in any unique key. */
  replace(row: Row): void {
    for (const [key, other] of this.rows) if (other.unique === row.unique) this.rows.delete(key);
    this.rows.set(fold(row.key), { ...row });
  }

  delete(key: string): void {
    this.rows.delete(fold(key));
  }

  apply(effect: NetEffect, replacesFirst: boolean): void {
    if (replacesFirst) for (const row of effect.puts) this.replace(row);
    for (const key of effect.deletes) this.delete(key);
    if (!replacesFirst) for (const row of effect.puts) this.replace(row);
  }

  get copied(): boolean {
    return this.table === "planned" && this.chunks.every((chunk) => chunk.done);
  }

  equals(rows: readonly Row[]): boolean {
    return rows.length === this.rows.size && rows.every((row) => {
      const mine = this.rows.get(fold(row.key));
      return mine !== undefined && mine.key === row.key && mine.unique === row.unique && mine.value === row.value;
    });
  }

  get content(): Row[] {
    return [...this.rows.values()];
  }
}

/** An invariant does not hold. */
export class Broken extends Error {}
