/** A random CREATE TABLE: keys, unique keys, character sets, generated columns, foreign keys, partitions. */
import type { CatalogTable } from "./catalog.js";
import type { Dice } from "./dice.js";
import { foreignKeyTo, foreignKeyToItself } from "./random-foreign-key.js";
import { indexOn, indexOnSeveral, type Declared } from "./random-index.js";
import { partitionBy } from "./random-partitions.js";
import { randomColumn, randomKeyType } from "./random-types.js";

const CHARSETS = ["utf8mb4", "utf8mb4", "utf8mb4 COLLATE utf8mb4_bin", "utf8mb4 COLLATE utf8mb4_general_ci", "latin1", "utf8mb3", "gbk", "utf16"];
export const COLUMN_NAMES = ["c0", "c1", "c2", "c3", "c4", "c5", "Sp ace", "ta`ble"];

/** What a new table may be. */
export interface TableOptions {
  /** It may be without any key. */
  noKey: boolean;
  /** It may refer to these. */
  parents: readonly CatalogTable[];
}

export function randomTable(dice: Dice, name: string, options: TableOptions): string {
  const key = dice.percent(65) ? ["id"] : dice.percent(70) ? ["k0", "k1"] : ["k0", "k1", "k2"];
  const counter = key.length === 1 && dice.percent(20);
  const keys: Declared[] = key.map((column) => ({ column, declared: counter ? "INT" : randomKeyType(dice) }));
  const columns = dice.some(COLUMN_NAMES.slice(0, 6), 60).map((column) => ({ column, declared: randomColumn(dice) }));
  const noKey = options.noKey && !counter && dice.percent(15);
  const items = [
    ...keys.map(({ column, declared }) => `${column} ${declared} NOT NULL${counter ? " AUTO_INCREMENT" : ""}`),
    ...columns.map(({ column, declared }) => `${column} ${declared}${dice.percent(4) ? " INVISIBLE" : ""}`),
  ];
  // A NOT NULL unique key will do as well.
  if (!noKey) items.push(`${dice.percent(90) ? "PRIMARY KEY" : "UNIQUE KEY"} (${key.map((column) => column + (dice.percent(5) ? " DESC" : "")).join(", ")})`);
  const first = keys[0] as Declared;
  // Every unique key of a partitioned table would have to hold the key; and it can have no foreign keys.
  if (!noKey && dice.percent(12)) return `${create(dice, name, items)} ${partitionBy(dice, first.column, first.declared)}`;
  if (dice.percent(25)) items.push(...generatedColumn(dice, first, columns));
  for (const column of dice.some(columns, 30)) items.push(...indexOn(dice, column, !noKey && dice.percent(60)));
  if (dice.percent(30)) items.push(...indexOnSeveral(dice, dice.percent(40) ? [first, ...columns] : columns, !noKey && dice.percent(75)));
  if (noKey && dice.percent(50)) items.push(`KEY (${first.column})`);
  if (dice.percent(30)) items.push(...foreignKey(dice, name, keys, options));
  return create(dice, name, items);
}

function create(dice: Dice, name: string, items: readonly string[]): string {
  return `CREATE TABLE ${name} (${items.join(", ")}) DEFAULT CHARSET=${dice.pick(CHARSETS)}`;
}

function foreignKey(dice: Dice, name: string, keys: readonly Declared[], { parents }: TableOptions): string[] {
  const [first] = keys;
  const found = first !== undefined && keys.length === 1 && dice.percent(25) ? foreignKeyToItself(dice, name, first.column, first.declared) : foreignKeyTo(dice, parents, ["p0", "p1", "p2"]);
  return found === null ? [] : [...found.columns, found.clause];
}

function generatedColumn(dice: Dice, key: Declared, columns: readonly Declared[]): string[] {
  const how = dice.pick(["VIRTUAL", "STORED"]);
  const text = columns.find(({ declared }) => /CHAR/.test(declared));
  const json = columns.find(({ declared }) => /JSON/.test(declared));
  const unique = dice.percent(50) ? "UNIQUE KEY" : "KEY";
  if (json !== undefined && dice.percent(50)) return [`g VARCHAR(40) AS (LEFT(${json.column}->>'$.a', 40)) ${how}`, ...(dice.percent(50) ? [`${unique} (g)`] : [])];
  if (text === undefined) return [`g INT AS (LENGTH(${key.column}) * 2) ${how}`, ...(dice.percent(50) ? ["KEY (g)"] : [])];
  const column = `g VARCHAR(60) AS (CONCAT(${text.column}, '-', LENGTH(${text.column}))) ${how}`;
  return [column, ...(dice.percent(50) ? [dice.percent(30) ? `${unique} (g(3), ${key.column})` : `${unique} (g)`] : [])];
}
