/** A random CREATE TABLE: keys, unique keys, character sets, generated columns. */
import type { Dice } from "./dice.js";
import { randomColumn, randomKeyType } from "./random-types.js";

const CHARSETS = ["utf8mb4", "utf8mb4", "utf8mb4 COLLATE utf8mb4_bin", "utf8mb4 COLLATE utf8mb4_general_ci", "latin1", "utf8mb3", "gbk", "utf16"];
export const COLUMN_NAMES = ["c0", "c1", "c2", "c3", "c4", "c5", "Sp ace", "ta`ble"];

export function randomTable(dice: Dice, name: string): string {
  const items: string[] = [];
  const key = dice.percent(65) ? ["id"] : dice.percent(70) ? ["k0", "k1"] : ["k0", "k1", "k2"];
  const counter = key.length === 1 && dice.percent(20);
  const keyTypes = key.map(() => (counter ? "INT" : randomKeyType(dice)));
  key.forEach((column, i) => items.push(`${column} ${keyTypes[i]} NOT NULL${counter ? " AUTO_INCREMENT" : ""}`));
  const columns = dice.some(COLUMN_NAMES.slice(0, 6), 60).map((column) => ({ column, declared: randomColumn(dice) }));
  for (const { column, declared } of columns) items.push(`${column} ${declared}${dice.percent(4) ? " INVISIBLE" : ""}`);
  if (dice.percent(25)) items.push(...generatedColumn(dice, key[0] as string, columns));
  // A NOT NULL unique key will do as well.
  items.push(`${dice.percent(90) ? "PRIMARY KEY" : "UNIQUE KEY"} (${key.map((column) => column + (dice.percent(5) ? " DESC" : "")).join(", ")})`);
  for (const { column, declared } of dice.some(columns, 30)) items.push(...indexOn(dice, column, declared, dice.percent(60)));
  const partitioned = counter && !items.some((item) => item.startsWith("UNIQUE") || item.startsWith("FULLTEXT")) && dice.percent(20);
  return `CREATE TABLE ${name} (${items.join(", ")}) DEFAULT CHARSET=${dice.pick(CHARSETS)}${partitioned ? " PARTITION BY HASH (id) PARTITIONS 3" : ""}`;
}

/** @returns no item where the type cannot be indexed */
export function indexOn(dice: Dice, column: string, declared: string, unique: boolean): string[] {
  const kind = unique ? "UNIQUE KEY" : "KEY";
  if (/JSON|POINT|GEOMETRY|VECTOR/.test(declared)) return [];
  if (/TEXT|BLOB/.test(declared)) return [!unique && /TEXT/.test(declared) && dice.percent(15) ? `FULLTEXT KEY (${column})` : `${kind} (${column}(${1 + dice.below(6)}))`];
  if (/VARCHAR|VARBINARY/.test(declared) && dice.percent(35)) return [`${kind} (${column}(${2 + dice.below(3)}))`];
  if (/CHAR/.test(declared) && dice.percent(20)) return [`${kind} ((UPPER(${column})))`];
  if (/INT/.test(declared) && dice.percent(15)) return [`${kind} ((${column} % 1000))`];
  return [`${kind} (${column}${dice.percent(10) ? " DESC" : ""})`];
}

function generatedColumn(dice: Dice, key: string, columns: readonly { column: string; declared: string }[]): string[] {
  const how = dice.pick(["VIRTUAL", "STORED"]);
  const text = columns.find(({ declared }) => /CHAR/.test(declared));
  const column = text === undefined ? `g INT AS (LENGTH(${key}) * 2) ${how}` : `g VARCHAR(60) AS (CONCAT(${text.column}, '-', LENGTH(${text.column}))) ${how}`;
  return [column, ...(dice.percent(50) ? [`${text === undefined ? "KEY" : "UNIQUE KEY"} (g)`] : [])];
}
