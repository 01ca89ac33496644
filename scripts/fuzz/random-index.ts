/** Random keys of one or several columns: of prefixes, expressions, members of JSON arrays, in descending order. */
import type { Dice } from "./dice.js";

/** A column with the type that it was declared with, in capitals. */
export interface Declared {
  /** As it stands in a statement. */
  column: string;
  declared: string;
}

/** @returns no item where the type cannot be indexed */
export function indexOn(dice: Dice, { column, declared }: Declared, unique: boolean): string[] {
  if (!unique && /TEXT/.test(declared) && dice.percent(15)) return [`FULLTEXT KEY (${column})`];
  const part = keyPart(dice, { column, declared });
  return part === null ? [] : [`${unique ? "UNIQUE KEY" : "KEY"} (${part})`];
}

/** A key of two or three of the columns; none when too few can be indexed. */
export function indexOnSeveral(dice: Dice, columns: readonly Declared[], unique: boolean): string[] {
  const parts = dice.shuffled(columns).flatMap((column) => keyPart(dice, column) ?? []).slice(0, 2 + dice.below(2));
  return parts.length < 2 ? [] : [`${unique ? "UNIQUE KEY" : "KEY"} (${parts.join(", ")})`];
}

/** @returns null where the type cannot be indexed */
function keyPart(dice: Dice, { column, declared }: Declared): string | null {
  if (/JSON/.test(declared)) return dice.pick([null, null, `(CAST(${column}->'$.b' AS CHAR(10) ARRAY))`, `(CAST(${column}->>'$.a' AS CHAR(10)))`]);
  if (/POINT|GEOMETRY|VECTOR/.test(declared)) return null;
  if (/TEXT|BLOB/.test(declared)) return `${column}(${1 + dice.below(6)})`;
  if (/VARCHAR|VARBINARY/.test(declared) && dice.percent(35)) return `${column}(${2 + dice.below(3)})`;
  if (/CHAR/.test(declared) && dice.percent(20)) return `(${dice.pick(["UPPER", "REVERSE", "LENGTH", "MD5"])}(${column}))`;
  if (/INT/.test(declared) && dice.percent(15)) return `(${column} % 1000)`;
  return `${column}${dice.percent(10) ? " DESC" : ""}`;
}
