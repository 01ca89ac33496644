/** Random DDL; a list is run one after the other. Some of it fails, for want of a key or of a value that can be converted. */
import { quoted, type CatalogTable } from "./catalog.js";
import type { Dice } from "./dice.js";
import { COLUMN_NAMES, indexOn, randomTable } from "./random-table.js";
import { randomColumn, randomKeyType, randomType } from "./random-types.js";

const NAMES = ["t0", "t1", "t2", "t3", "t4", "_x", "_y", "Wörter"];
/** Nobody follows these by name, where the seed's spec leaves them out. */
export function isAside(name: string): boolean {
  return name.startsWith("_");
}

export function randomDdl(dice: Dice, tables: readonly CatalogTable[]): string[] {
  const there = tables.filter((table) => NAMES.includes(table.name));
  const free = NAMES.filter((name) => !tables.some((table) => table.name === name));
  const one = there.length === 0 ? undefined : dice.pick(there);
  if (one === undefined) return [randomTable(dice, free[0] as string)];
  const other = dice.pick(there);
  if (dice.percent(55)) return [alter(dice, one, free)];
  if (dice.percent(20)) return shadow(dice, one);
  return whole(dice, quoted(one.name), quoted(other.name), free.length === 0 ? undefined : quoted(dice.pick(free)));
}

/** Statements on whole tables. */
function whole(dice: Dice, t: string, u: string, free: string | undefined): string[] {
  const kinds: (() => string[])[] = [
    () => [`TRUNCATE ${t}`],
    () => [`RENAME TABLE ${t} TO swap, ${u} TO ${t}, swap TO ${u}`],
    () => [`DROP TABLE ${t}`, randomTable(dice, t)],
    () => [`DROP TABLE IF EXISTS ${t}, no_such_table`],
    () => [`CREATE TABLE IF NOT EXISTS ${t} LIKE ${u}`],
    () => [`CREATE OR REPLACE VIEW a_view AS SELECT 1 AS one`],
    () => [`OPTIMIZE TABLE ${t}`],
    () => [`ANALYZE TABLE ${t}`],
    () => [`ALTER DATABASE DEFAULT CHARACTER SET ${dice.pick(["utf8mb4", "latin1", "utf8mb4 COLLATE utf8mb4_bin"])}`],
    () => ["CREATE TEMPORARY TABLE temporary_one (id INT PRIMARY KEY)", "INSERT INTO temporary_one VALUES (1)", "DROP TEMPORARY TABLE temporary_one"],
  ];
  if (free !== undefined)
    kinds.push(
      () => [`RENAME TABLE ${t} TO ${free}`],
      () => [`RENAME TABLE ${t} TO ${free}`, `RENAME TABLE ${free} TO ${t}`],
      () => [`RENAME TABLE ${t} TO ${free}, ${u} TO ${t}`],
      () => [`ALTER TABLE ${t} RENAME TO ${free}`],
      () => [randomTable(dice, free)],
      () => [randomTable(dice, free)],
      () => [`CREATE TABLE ${free} LIKE ${u}`],
      () => [`CREATE TABLE ${free} LIKE ${u}`, `INSERT IGNORE INTO ${free} SELECT * FROM ${u}`],
      () => [`CREATE TABLE ${free} (PRIMARY KEY (id)) SELECT * FROM ${u}`],
      () => [`CREATE TABLE ${free} (n INT AUTO_INCREMENT PRIMARY KEY) SELECT 1 AS a, 'x' AS b UNION SELECT 2, 'y'`],
      () => [`CREATE TABLE ${free} (id INT PRIMARY KEY) /* a comment; DROP TABLE ${t} */ COMMENT='it''s; -- é'`],
    );
  return dice.pick(kinds)();
}

/** As gh-ost and pt-online-schema-change do it: a shadow table, its rows, a swap of names. */
function shadow(dice: Dice, table: CatalogTable): string[] {
  const t = quoted(table.name);
  const key = table.key.map((column) => quoted(column.name)).join(", ");
  if (key === "") return [];
  const column = dice.pick(COLUMN_NAMES.filter((name) => !table.columns.some((c) => c.name.toLowerCase() === name.toLowerCase())));
  const written = table.columns.filter((c) => !c.generated).map((c) => quoted(c.name));
  const copy = `INSERT IGNORE INTO _shadow (${written.join(", ")}) SELECT ${written.join(", ")} FROM ${t}`;
  const news = written.map((name) => `NEW.${name}`).join(", ");
  const same = table.key.map((c) => `_shadow.${quoted(c.name)}=OLD.${quoted(c.name)}`).join(" AND ");
  const triggers = dice.percent(50);
  return [
    `CREATE TABLE _shadow LIKE ${t}`,
    `ALTER TABLE _shadow ADD ${quoted(column ?? "c9")} INT NULL`,
    ...(triggers ? [`CREATE TRIGGER trigger_d AFTER DELETE ON ${t} FOR EACH ROW DELETE IGNORE FROM _shadow WHERE ${same}`, `CREATE TRIGGER trigger_i AFTER INSERT ON ${t} FOR EACH ROW REPLACE INTO _shadow (${written.join(", ")}) VALUES (${news})`] : []),
    copy,
    `DELETE FROM ${t} ORDER BY ${key} LIMIT 3`,
    ...(triggers ? [] : [`DELETE FROM _shadow ORDER BY ${key} LIMIT 3`]),
    `RENAME TABLE ${t} TO _old, _shadow TO ${t}`,
    ...(triggers ? ["DROP TRIGGER IF EXISTS trigger_d", "DROP TRIGGER IF EXISTS trigger_i"] : []),
    "DROP TABLE IF EXISTS _old",
    "DROP TABLE IF EXISTS _shadow",
  ];
}

function alter(dice: Dice, table: CatalogTable, free: readonly string[]): string {
  const keyNames = table.key.map((column) => column.name);
  const others = table.columns.filter((column) => !keyNames.includes(column.name) && !column.generated);
  const old = () => quoted(others.length === 0 ? "c0" : dice.pick(others).name);
  const fresh = () => quoted(dice.pick(COLUMN_NAMES.filter((name) => !table.columns.some((c) => c.name.toLowerCase() === name.toLowerCase()))) ?? "c9");
  const key = () => quoted(keyNames.length === 0 ? "id" : dice.pick(keyNames));
  const index = () => quoted(dice.pick(table.indexes.map((i) => i.name).filter((name) => name !== "PRIMARY")) ?? "none");
  const place = () => dice.pick(["", "", " FIRST", ` AFTER ${key()}`]);
  /** MySQL 9.7 makes `PRIMARY KEY (id(1))` of a SET or ENUM that becomes a string: a key of prefixes, which nobody can follow by. */
  const wholeKey = () => (table.key.some((column) => /^(set|enum)$/.test(column.dataType)) ? `, DROP PRIMARY KEY, ADD PRIMARY KEY (${keyNames.map(quoted).join(", ")})` : "");
  const renamedKey = (name: string) => `CHANGE ${key()} ${name} ${randomKeyType(dice)} NOT NULL${wholeKey() === "" ? "" : `, DROP PRIMARY KEY, ADD PRIMARY KEY (${name})`}`;
  const a = old();
  const b = old();
  const indexed = others.length === 0 ? undefined : dice.pick(others);
  const clauses: (() => string)[] = [
    () => `ADD ${fresh()} ${randomColumn(dice)}${place()}`,
    () => `ADD ${fresh()} ${randomColumn(dice)}${place()}`,
    () => `ADD ${fresh()} ${randomColumn(dice)}${place()}, DROP COLUMN ${old()}`,
    () => `DROP COLUMN ${a}, ADD ${a} ${randomColumn(dice)}`,
    () => `DROP COLUMN ${old()}`,
    () => `RENAME COLUMN ${old()} TO ${fresh()}`,
    () => `RENAME COLUMN ${a} TO ${b}, RENAME COLUMN ${b} TO ${a}`,
    () => `MODIFY ${old()} ${randomColumn(dice)}${place()}`,
    () => `CHANGE ${old()} ${fresh()} ${randomColumn(dice)}${place()}`,
    () => `MODIFY ${key()} ${randomKeyType(dice)} NOT NULL${wholeKey()}`,
    () => (keyNames.length === 1 ? renamedKey(fresh()) : "FORCE"),
    () => (indexed === undefined ? "FORCE" : `ADD ${indexOn(dice, quoted(indexed.name), indexed.columnType.toUpperCase(), dice.percent(50))[0] ?? "INDEX (no_such)"}`),
    () => (indexed === undefined ? "FORCE" : `ADD ${indexOn(dice, quoted(indexed.name), indexed.columnType.toUpperCase(), dice.percent(50))[0] ?? "INDEX (no_such)"}`),
    () => `DROP INDEX ${index()}`,
    () => `ALTER INDEX ${index()} INVISIBLE`,
    () => `RENAME INDEX ${index()} TO renamed_${dice.below(99)}`,
    () => `CONVERT TO CHARACTER SET ${dice.pick(["utf8mb4", "latin1", "utf8mb4 COLLATE utf8mb4_bin", "utf16"])}`,
    () => `DEFAULT CHARACTER SET ${dice.pick(["utf8mb4", "latin1"])}`,
    () => `ADD ${fresh()} INT AUTO_INCREMENT UNIQUE`,
    () => `DROP PRIMARY KEY, ADD PRIMARY KEY (${dice.percent(50) ? key() : `${key()}, ${old()}`})`,
    () => `ALTER COLUMN ${old()} SET DEFAULT ${dice.pick(["NULL", "1", "(1 + 1)"])}`,
    () => `ADD ${fresh()} INT AS (LENGTH(${key()})) ${dice.pick(["STORED", "VIRTUAL"])}`,
    () => `ADD ${fresh()} VARCHAR(10) NOT NULL DEFAULT 'é;--' COMMENT 'a comment, it''s /* one */'${place()}`,
    () => `ADD ${fresh()} INT INVISIBLE DEFAULT 3`,
    () => `ALTER COLUMN ${old()} SET INVISIBLE`,
    () => `COMMENT='${dice.below(99)}'`,
    () => `AUTO_INCREMENT=${1000 + dice.below(1000)}`,
    () => `ROW_FORMAT=${dice.pick(["COMPACT", "DYNAMIC"])}`,
    () => "ENGINE=InnoDB",
    () => "FORCE, ALGORITHM=INPLACE",
    () => `PARTITION BY KEY () PARTITIONS ${2 + dice.below(3)}`,
    () => "REMOVE PARTITIONING",
    () => `ADD ${fresh()} ${randomType(dice)}, RENAME TO ${free.length === 0 ? quoted(table.name) : quoted(dice.pick(free))}`,
    () => `ADD CONSTRAINT check_${dice.below(9)} CHECK (LENGTH(${key()}) < 1000)`,
    () => `ORDER BY ${a}`,
  ];
  const remark = dice.percent(10) ? dice.pick(["/* a `remark` */ ", "/*!80000 */ ", "-- a line's end\n", "/*! */ # more\n"]) : "";
  return `ALTER TABLE ${remark}${quoted(table.name)} ${dice.pick(clauses)()}`;
}
