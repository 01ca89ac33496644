/**
 * How long hashes of a table take, as this process measured them. It follows a slower server at once and a faster one
 * slowly: chunks are cut well ahead, and what was cut while the server was quick is compared in parts when it is not any more.
 */

/** The pace forgets so much of a slow statement with every quicker one. */
const RECOVERY = 0.3;
/** Statements over fewer rows say more about the network than about the rows. */
const LEAST_ROWS = 500;
/** Tables, each with its filter, that are remembered: the latest. */
const MOST_TABLES = 10_000;

export class HashPace {
  private readonly msPerRow = new Map<string, number>();

  record(table: string, rows: number, ms: number): void {
    if (rows < LEAST_ROWS) return;
    const now = ms / rows;
    const before = this.msPerRow.get(table);
    // Again at the end: the first is the one that was not measured for longest.
    this.msPerRow.delete(table);
    this.msPerRow.set(table, before === undefined || now > before ? now : before + (now - before) * RECOVERY);
    if (this.msPerRow.size > MOST_TABLES) this.msPerRow.delete(this.msPerRow.keys().next().value as string);
  }

  /** Rows whose hash should take so many milliseconds; Infinity while nothing is known. */
  rowsWithin(table: string, ms: number): number {
    const pace = this.msPerRow.get(table);
    return pace === undefined || pace === 0 ? Infinity : Math.max(1, Math.floor(ms / pace));
  }
}
