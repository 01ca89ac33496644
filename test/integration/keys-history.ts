/** Random statements over few values of a table, so that keys and unique values meet, move and change in case only. */

export interface HistoryTable {
  name: string;
  /** All column definitions and keys; the last column is `v int`. */
  body: string;
  /** Columns that the statements set, with the literals that they choose from. */
  values: Record<string, readonly string[]>;
}

/** Numerical Recipes' generator: the same history for the same seed. */
export class Dice {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  below(n: number): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.state / 2 ** 32) * n);
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}

/** One statement; IGNORE: what the server refuses is of no interest. */
function randomStatement(table: HistoryTable, dice: Dice): string {
  const names = Object.keys(table.values);
  const value = (name: string) => dice.of(table.values[name] as readonly string[]);
  const where = () => {
    const name = dice.of(names);
    return `${name} <=> ${value(name)}`;
  };
  const row = `(${names.join(",")},v) VALUES (${names.map(value).join(",")},${dice.below(1_000_000)})`;
  const change = dice.of(names);
  switch (dice.below(8)) {
    case 0:
    case 1:
      return `INSERT IGNORE INTO ${table.name} ${row}`;
    case 2:
      return `REPLACE INTO ${table.name} ${row}`;
    case 3:
      return `DELETE FROM ${table.name} WHERE ${where()}`;
    case 4:
    case 5:
    case 6:
      return `UPDATE IGNORE ${table.name} SET ${change}=${value(change)} WHERE ${where()}`;
    default:
      return `UPDATE ${table.name} SET v=${dice.below(1_000_000)} WHERE ${where()}`;
  }
}

/** Statements that belong together: one alone, or a transaction over several tables. */
export function randomTransaction(tables: readonly HistoryTable[], dice: Dice): string {
  if (dice.below(3) > 0) return randomStatement(dice.of(tables), dice);
  const statements = Array.from({ length: 2 + dice.below(5) }, () => randomStatement(dice.of(tables), dice));
  return `BEGIN; ${statements.join("; ")}; COMMIT`;
}
