/**
 * The source server: one table with a key under a case-insensitive collation and a secondary unique key, its binlog, and
 * a replica that lags. A position is a number of transactions.
 */
import type { Random } from "./random.js";

export interface Row {
  key: string;
  /** Unique in the table. */
  unique: number;
  value: number;
}

/** A full-row image; null where there is none. */
export interface Change {
  before: string | null;
  after: Row | null;
}

/** Rows are the same row when their folded keys are equal: `a` and `A`. */
export const fold = (key: string): string => key.toLowerCase();

const LETTERS = ["a", "b", "c", "d", "e", "f"];
const UNIQUES = [0, 1, 2, 3, 4, 5, 6, 7];

export class Source {
  readonly binlog: Change[][] = [];
  /** The rows after so many transactions. */
  private readonly states: Row[][] = [[]];
  /** `gtid_executed`: what a SELECT sees. A transaction is in the binlog a moment before. */
  executed = 0;
  /** The same of a replica, which a chunk read may be sent to. */
  replicaExecuted = 0;
  private lastValue = 0;
  private readonly random: Random;

  constructor(random: Random) {
    this.random = random;
    this.write(6);
    this.states[0] = this.states.pop() as Row[];
    this.binlog.pop();
  }

  rowsAt(position: number): Row[] {
    return this.states[position] as Row[];
  }

  get newest(): Row[] {
    return this.rowsAt(this.binlog.length);
  }

  /** One transaction of random changes, into the binlog. */
  write(count = 1 + this.random.below(5)): void {
    const rows = this.newest.map((row) => ({ ...row }));
    const transaction: Change[] = [];
    for (let i = 0; i < count; i++) this.changeRows(rows, transaction);
    this.binlog.push(transaction);
    this.states.push(rows);
  }

  private changeRows(rows: Row[], transaction: Change[]): void {
    const { random } = this;
    const freeLetters = LETTERS.filter((letter) => rows.every((row) => fold(row.key) !== letter));
    const freeUnique = random.pick(UNIQUES.filter((unique) => rows.every((row) => row.unique !== unique)));
    const newKey = () => (random.chance(0.5) ? (s: string) => s : (s: string) => s.toUpperCase())(random.pick(freeLetters));
    const update = (row: Row, to: Partial<Row>) => {
      const before = row.key;
      Object.assign(row, to, { value: ++this.lastValue });
      transaction.push({ before, after: { ...row } });
    };
    if (freeLetters.length > 0 && (rows.length < 2 || random.chance(0.3))) {
      const row = { key: newKey(), unique: freeUnique, value: ++this.lastValue };
      rows.push(row);
      return void transaction.push({ before: null, after: { ...row } });
    }
    const row = random.pick(rows);
    const other = random.pick(rows);
    switch (random.below(6)) {
      case 0:
        rows.splice(rows.indexOf(row), 1);
        return void transaction.push({ before: row.key, after: null });
      case 1:
        return update(row, {});
      case 2:
        return update(row, { unique: freeUnique });
      case 3: // two rows swap their unique values
        if (row === other) return update(row, {});
        const { unique } = row;
        const { unique: wanted } = other;
        update(row, { unique: freeUnique });
        update(other, { unique });
        return update(row, { unique: wanted });
      case 4: // the same key, written otherwise
        return update(row, { key: row.key === fold(row.key) ? row.key.toUpperCase() : fold(row.key) });
      default:
        return update(row, freeLetters.length > 0 ? { key: newKey() } : {});
    }
  }
}
