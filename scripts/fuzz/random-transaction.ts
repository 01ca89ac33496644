/**
 * A random transaction: what is hard to follow. Unique values that move and swap, keys that change (also only in case), rows
 * that are deleted and come again, several tables, savepoints, XA in one phase
 * (two phases stop a migration), now and then very many rows. Some statements fail, for a duplicate or a value out of range; what
 * matters is what gets into the binlog.
 */
import { quoted, type CatalogColumn, type CatalogTable } from "./catalog.js";
import type { Dice } from "./dice.js";
import { randomLiteral } from "./random-values.js";

/** Rows of a large transaction. */
const LARGE_ROWS = 1_500;

export function randomTransaction(dice: Dice, tables: readonly CatalogTable[]): string[] {
  const usable = tables.filter((table) => table.columns.some(writable));
  if (usable.length === 0) return [];
  if (dice.percent(4)) return [...settings(dice), "BEGIN", ...large(dice, dice.pick(usable)), "COMMIT"];
  const work: string[] = [];
  for (let i = 1 + dice.below(4); i > 0; i--) work.push(...change(dice, dice.pick(usable)));
  if (dice.percent(12)) {
    const inner = change(dice, dice.pick(usable));
    const nested = ["SAVEPOINT a", ...inner, dice.percent(70) ? "ROLLBACK TO SAVEPOINT a" : "RELEASE SAVEPOINT a"];
    work.splice(dice.below(work.length + 1), 0, ...nested);
  }
  if (dice.percent(5)) return [...settings(dice), "XA START 'x'", ...work, "XA END 'x'", dice.percent(80) ? "XA COMMIT 'x' ONE PHASE" : "XA ROLLBACK 'x'"];
  if (dice.percent(35)) return [...settings(dice), ...work];
  return [...settings(dice), "BEGIN", ...work, dice.percent(93) ? "COMMIT" : "ROLLBACK"];
}

/** Of the session; each stays until another one comes. */
function settings(dice: Dice): string[] {
  const list = [
    "binlog_transaction_compression=ON", "binlog_transaction_compression=OFF", "time_zone='+05:30'", "time_zone='America/New_York'", "sql_mode=''", "sql_mode='NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'", "gtid_next='AUTOMATIC:tagged'", "gtid_next='AUTOMATIC'", "foreign_key_checks=0", "foreign_key_checks=1",
    "sql_mode='ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'", "sql_generate_invisible_primary_key=ON", "sql_generate_invisible_primary_key=OFF", "explicit_defaults_for_timestamp=OFF", "default_collation_for_utf8mb4=utf8mb4_general_ci",
  ];
  if (!dice.percent(10)) return [];
  return [dice.percent(15) ? `SET NAMES ${dice.pick(["latin1", "gbk", "utf8mb4", "utf8mb4 COLLATE utf8mb4_bin"])}` : `SET SESSION ${dice.pick(list)}`];
}

function change(dice: Dice, table: CatalogTable): string[] {
  const kind = dice.below(100);
  if (kind < 30) return [insert(dice, table)];
  if (kind < 48) return [update(dice, table)];
  if (kind < 60) return [`DELETE FROM ${quoted(table.name)} WHERE ${where(dice, table)} LIMIT ${1 + dice.below(6)}`];
  if (kind < 72) return changeKeys(dice, table);
  if (kind < 80) return deleteAndInsert(dice, table);
  if (kind < 92) return moveUnique(dice, table);
  return changeCase(dice, table);
}

function writable(column: CatalogColumn): boolean {
  return !column.generated;
}

/** A few rows from somewhere in the key's order. */
function where(dice: Dice, table: CatalogTable): string {
  const [first] = table.key;
  if (first === undefined || dice.percent(10)) return dice.percent(30) ? "TRUE" : "RAND() < 0.05";
  return `${quoted(first.name)} ${dice.pick([">=", "=", "=", "<="])} ${randomLiteral(dice, first)}`;
}

function insert(dice: Dice, table: CatalogTable, rows = 1 + dice.below(5)): string {
  const columns = table.columns.filter((column) => writable(column) && (!column.autoIncrement || dice.percent(60)));
  const values = Array.from({ length: rows }, () => `(${columns.map((column) => randomLiteral(dice, column)).join(", ")})`);
  const into = `INTO ${quoted(table.name)} (${columns.map((column) => quoted(column.name)).join(", ")}) VALUES ${values.join(", ")}`;
  const kind = dice.below(100);
  if (kind < 25) return `INSERT ${into}`;
  if (kind < 55) return `INSERT IGNORE ${into}`;
  if (kind < 80) return `REPLACE ${into}`;
  const changed = dice.pick(columns);
  return `INSERT ${into} ON DUPLICATE KEY UPDATE ${quoted(changed.name)}=${randomLiteral(dice, changed)}`;
}

/** Rows to begin with; sometimes so many that the copy lasts while the table is altered. */
export function fill(dice: Dice, table: CatalogTable): string[] {
  if (dice.percent(15)) return many(dice, table);
  return Array.from({ length: 2 + dice.below(8) }, () => insert(dice, table, 20).replace(/^(INSERT|REPLACE)( IGNORE)? (.*?)( ON DUPLICATE KEY UPDATE .*)?$/s, "INSERT IGNORE $3"));
}

function update(dice: Dice, table: CatalogTable): string {
  const columns = dice.some(table.columns.filter((column) => writable(column) && !table.key.includes(column)), 40);
  const column = dice.pick(table.columns.filter(writable));
  const changes = (columns.length > 0 ? columns : [column]).map((c) => `${quoted(c.name)}=${randomLiteral(dice, c)}`);
  return `UPDATE ${dice.percent(50) ? "IGNORE " : ""}${quoted(table.name)} SET ${changes.join(", ")} WHERE ${where(dice, table)}${dice.percent(80) ? ` LIMIT ${1 + dice.below(8)}` : ""}`;
}

function changeKeys(dice: Dice, table: CatalogTable): string[] {
  if (table.key.length === 0) return [update(dice, table)];
  const column = dice.pick(table.key);
  const name = quoted(column.name);
  const order = table.key.map((c) => `${quoted(c.name)} DESC`).join(", ");
  if (/int|decimal/.test(column.dataType) && dice.percent(50)) {
    // Every row takes the key that the one before it had.
    return [`UPDATE ${quoted(table.name)} SET ${name}=${name}+${dice.pick([1, 1, 100])} ${dice.percent(60) ? `WHERE ${where(dice, table)} ` : ""}ORDER BY ${order}`];
  }
  return [`UPDATE ${dice.percent(50) ? "IGNORE " : ""}${quoted(table.name)} SET ${name}=${randomLiteral(dice, column)} WHERE ${where(dice, table)} LIMIT ${1 + dice.below(3)}`];
}

/** The same key again, with other values, or with the key written otherwise. */
function deleteAndInsert(dice: Dice, table: CatalogTable): string[] {
  const [first] = table.key;
  if (first === undefined) return [insert(dice, table)];
  const remember = table.key.map((c, i) => `@key${i}:=${quoted(c.name)}`).join(", ");
  const columns = table.columns.filter(writable);
  const again = columns.map((column) => {
    const at = table.key.indexOf(column);
    return at === -1 ? randomLiteral(dice, column) : dice.percent(85) || column.charset === null ? `@key${at}` : `${dice.pick(["UPPER", "LOWER"])}(@key${at})`;
  });
  return [
    `SELECT ${remember} FROM ${quoted(table.name)} WHERE ${where(dice, table)} ORDER BY ${table.key.map((c) => quoted(c.name)).join(", ")} LIMIT 1`,
    `DELETE FROM ${quoted(table.name)} WHERE ${table.key.map((c, i) => `${quoted(c.name)}=@key${i}`).join(" AND ")}`,
    `${dice.pick(["INSERT", "REPLACE", "INSERT IGNORE"])} INTO ${quoted(table.name)} (${columns.map((c) => quoted(c.name)).join(", ")}) VALUES (${again.join(", ")})`,
  ];
}

/** Two rows exchange the value of a unique column, or one takes the value that another has just given up. */
function moveUnique(dice: Dice, table: CatalogTable): string[] {
  const unique = table.indexes.filter((index) => index.unique && index.name !== "PRIMARY").map((index) => table.columns.find((c) => c.name === index.columns[0])).filter((c) => c !== undefined && writable(c));
  const column = unique.length === 0 ? undefined : dice.pick(unique);
  if (column === undefined || table.key.length === 0) return [update(dice, table)];
  const name = quoted(column.name);
  const order = table.key.map((c) => quoted(c.name)).join(", ");
  const row = (n: number) => `SELECT @u${n}:=${name}, ${table.key.map((c, i) => `@r${n}k${i}:=${quoted(c.name)}`).join(", ")} FROM ${quoted(table.name)} ORDER BY ${order} LIMIT 1 OFFSET ${dice.below(40)}`;
  const at = (n: number) => table.key.map((c, i) => `${quoted(c.name)}=@r${n}k${i}`).join(" AND ");
  const set = (n: number, value: string) => `UPDATE ${quoted(table.name)} SET ${name}=${value} WHERE ${at(n)}`;
  const free = column.nullable ? "NULL" : randomLiteral(dice, column);
  if (dice.percent(60)) return [row(1), row(2), set(1, free), set(2, "@u1"), set(1, "@u2")];
  return [row(1), row(2), dice.percent(50) ? `DELETE FROM ${quoted(table.name)} WHERE ${at(1)}` : set(1, free), set(2, "@u1")];
}

/** Equal in many collations, other bytes. */
function changeCase(dice: Dice, table: CatalogTable): string[] {
  const texts = table.columns.filter((column) => writable(column) && column.charset !== null && /char|text/.test(column.dataType));
  const keys = texts.filter((column) => table.key.includes(column));
  const column = keys.length > 0 && dice.percent(60) ? dice.pick(keys) : texts.length > 0 ? dice.pick(texts) : undefined;
  if (column === undefined) return [update(dice, table)];
  const name = quoted(column.name);
  const value = dice.pick([`UPPER(${name})`, `LOWER(${name})`, `CONCAT(${name}, ' ')`, `RTRIM(${name})`, `REPLACE(${name}, 'a', 'á')`, `REPLACE(${name}, 'ss', 'ß')`]);
  return [`UPDATE ${dice.percent(30) ? "IGNORE " : ""}${quoted(table.name)} SET ${name}=${value} WHERE ${where(dice, table)} LIMIT ${1 + dice.below(10)}`];
}

function large(dice: Dice, table: CatalogTable): string[] {
  if (dice.percent(30)) return [`DELETE FROM ${quoted(table.name)}`, insert(dice, table, 40)];
  if (dice.percent(50)) return [update(dice, table).replace(/ WHERE .*$/s, ""), ...changeKeys(dice, table)];
  return many(dice, table);
}

function many(dice: Dice, table: CatalogTable): string[] {
  const columns = table.columns.filter((column) => writable(column) && (table.key.includes(column) || !column.nullable));
  if (columns.length === 0) return [insert(dice, table)];
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${LARGE_ROWS})`;
  const cells = columns.map((column) => (/int|char|decimal|binary|text/.test(column.dataType) ? `i + ${dice.below(200)}` : randomLiteral(dice, column)));
  return ["SET SESSION cte_max_recursion_depth=100000", `INSERT IGNORE INTO ${quoted(table.name)} (${columns.map((c) => quoted(c.name)).join(", ")}) ${numbers} SELECT ${cells.join(", ")} FROM n`];
}
