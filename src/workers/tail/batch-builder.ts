/** Collects row changes as their net effect: per row key only the last image counts (design §4, step 4). */
import type { Batch, BatchTable, TransactionChanges } from "../../shared/backlog/batch.js";

/** What a key costs beside its bytes, in memory and in the payload. */
const ENTRY_BYTES = 32;

export class BatchBuilder {
  /** Per table number and key: the last image, or null for a key that has none left. */
  private readonly tables = new Map<number, Map<string, Buffer | null>>();
  /** Of tables without a key, by number: their changes in order. */
  private readonly changesOf = new Map<number, TransactionChanges[]>();
  /** By table without a key: its latest transaction, and the changes seen in it so far, those of earlier batches included. */
  private readonly counts = new Map<number, { gtid: string; seen: number }>();
  private byteCount = 0;
  private changeCount = 0;

  /** Keys and images held, in bytes. */
  get bytes(): number {
    return this.byteCount;
  }

  /** Row changes taken; more than there are rows when a row changed twice. */
  get changes(): number {
    return this.changeCount;
  }

  get empty(): boolean {
    return this.changeCount === 0;
  }

  /**
   * One row change: the key loses its image, or gets a new one. The keys are exact bytes: two keys that are equal in
   * the column's collation only stay apart here, and deletes before puts make that right on the target.
   */
  change(table: number, beforeKey: string | null, afterKey: string | null, after: Buffer | null): void {
    let rows = this.tables.get(table);
    if (rows === undefined) this.tables.set(table, (rows = new Map()));
    if (beforeKey !== null && beforeKey !== afterKey) this.set(rows, beforeKey, null);
    if (afterKey !== null && after !== null) this.set(rows, afterKey, Buffer.from(after));
    this.changeCount += 1;
  }

  /** One row change of a table without a key; the rows are text rows of all copied columns. */
  noKeyChange(table: number, gtid: string, before: Buffer | null, after: Buffer | null): void {
    let count = this.counts.get(table);
    if (count?.gtid !== gtid) this.counts.set(table, (count = { gtid, seen: 0 }));
    let transactions = this.changesOf.get(table);
    if (transactions === undefined) this.changesOf.set(table, (transactions = []));
    let last = transactions.at(-1);
    if (last?.gtid !== gtid) transactions.push((last = { gtid, first: count.seen, rows: [] }));
    last.rows.push({ before, after });
    count.seen += 1;
    this.byteCount += (before?.length ?? 0) + (after?.length ?? 0) + ENTRY_BYTES;
    this.changeCount += 1;
  }

  /** The batch so far; the builder is empty afterwards. */
  take(): { batch: Batch; rows: number } {
    const tables: BatchTable[] = [];
    let rowCount = 0;
    for (const [number, rows] of this.tables) {
      const table: BatchTable = { number, deletes: [], puts: [] };
      for (const [key, image] of rows) {
        if (image === null) table.deletes.push(Buffer.from(key, "latin1"));
        else table.puts.push(image);
      }
      rowCount += rows.size;
      tables.push(table);
    }
    for (const [number, changes] of this.changesOf) {
      tables.push({ number, deletes: [], puts: [], changes });
      for (const { rows } of changes) rowCount += rows.length;
    }
    this.tables.clear();
    this.changesOf.clear();
    this.byteCount = 0;
    this.changeCount = 0;
    return { batch: { tables, statement: null }, rows: rowCount };
  }

  private set(rows: Map<string, Buffer | null>, key: string, image: Buffer | null): void {
    const old = rows.get(key);
    if (old === undefined) this.byteCount += key.length + ENTRY_BYTES;
    this.byteCount += (image?.length ?? 0) - (old?.length ?? 0);
    rows.set(key, image);
  }
}
