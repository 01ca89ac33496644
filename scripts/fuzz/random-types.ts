/** Column types as they are declared. */
import type { Dice } from "./dice.js";

const COLLATIONS = [
  "", "", "", " COLLATE utf8mb4_bin", " COLLATE utf8mb4_general_ci", " COLLATE utf8mb4_unicode_ci", " COLLATE utf8mb4_0900_as_cs", " COLLATE utf8mb4_0900_bin", " COLLATE utf8mb4_ja_0900_as_cs",
  " CHARACTER SET latin1", " CHARACTER SET latin1 COLLATE latin1_general_cs", " CHARACTER SET latin1 COLLATE latin1_german2_ci", " CHARACTER SET utf8mb3", " CHARACTER SET gbk", " CHARACTER SET utf16",
  " CHARACTER SET ucs2 COLLATE ucs2_bin", " CHARACTER SET ascii", " CHARACTER SET sjis", " CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci", " CHARACTER SET gb18030",
];
const WHOLE = ["TINYINT", "SMALLINT UNSIGNED", "MEDIUMINT", "INT", "INT UNSIGNED", "BIGINT", "BIGINT UNSIGNED", "INT UNSIGNED ZEROFILL"];
const EXACT = ["DECIMAL(10,3)", "DECIMAL(38,10) UNSIGNED", "DECIMAL(10,0)", "DATE", "DATETIME", "DATETIME(6)", "TIME(3)", "TIMESTAMP(6)", "TIMESTAMP", "YEAR", "BIT(12)", "ENUM('a','B','é','')", "SET('x','y','z')", "BINARY(8)", "VARBINARY(16)"];
const OTHER = ["FLOAT", "DOUBLE", "TEXT", "TINYTEXT", "MEDIUMTEXT", "BLOB", "TINYBLOB", "JSON", "POINT", "GEOMETRY", "VECTOR(3)", "DECIMAL(30,20)", "BIT(1)", "BIT(64)", "TINYINT(1)"];

/** A type with a collation where it has one. */
function withCollation(dice: Dice, type: string): string {
  return /CHAR|TEXT|^ENUM|^SET/.test(type) ? `${type}${dice.pick(COLLATIONS)}` : type;
}

export function randomKeyType(dice: Dice): string {
  if (dice.percent(45)) return dice.pick(WHOLE);
  if (dice.percent(60)) return withCollation(dice, dice.pick(["VARCHAR(20)", "CHAR(10)", "VARCHAR(40)"]));
  return withCollation(dice, dice.pick(EXACT));
}

export function randomType(dice: Dice): string {
  const list = dice.pick([WHOLE, EXACT, OTHER, ["VARCHAR(20)", "CHAR(10)", "VARCHAR(200)", "TEXT"]]);
  return withCollation(dice, dice.pick(list));
}

/** With NULL or NOT NULL and perhaps a default, for a column that is added to rows that are there. */
export function randomColumn(dice: Dice): string {
  const type = randomType(dice);
  if (dice.percent(60)) return `${type} NULL`;
  const plain = !/TEXT|BLOB|JSON|POINT|GEOMETRY|VECTOR/.test(type);
  // Rows that are there would get a vector of no dimensions, which no INSERT can write.
  if (type.startsWith("VECTOR")) return `${type} NULL`;
  if (!plain || dice.percent(50)) return `${type} NOT NULL`;
  if (type.startsWith("TIMESTAMP") || type.startsWith("DATETIME")) {
    const now = `CURRENT_TIMESTAMP${/\(\d\)/.exec(type)?.[0] ?? ""}`;
    return `${type} NOT NULL DEFAULT ${now}${dice.percent(50) ? ` ON UPDATE ${now}` : ""}`;
  }
  if (/CHAR/.test(type)) return `${type} NOT NULL DEFAULT 'd'`;
  return WHOLE.includes(type) ? `${type} NOT NULL DEFAULT 7` : `${type} NOT NULL`;
}
