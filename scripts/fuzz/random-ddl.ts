/** Random DDL; a list is run one after the other. Some of it fails, for want of a key or of a value that can be converted. */
import { quoted, type CatalogTable } from "./catalog.js";
import type { Dice } from "./dice.js";
import { alter } from "./random-alter.js";
import { COLUMN_NAMES, randomTable } from "./random-table.js";

const NAMES = ["t0", "t1", "t2", "t3", "t4", "_x", "_y", "Wörter"];
/** Nobody follows these by name, where the seed's spec leaves them out. */
export function isAside(name: string): boolean {
  return name.startsWith("_");
}

/** @param noKey tables may be without a key */
export function randomDdl(dice: Dice, tables: readonly CatalogTable[], noKey: boolean): string[] {
  const there = tables.filter((table) => NAMES.includes(table.name));
  const free = NAMES.filter((name) => !tables.some((table) => table.name === name));
  const fresh = (name: string) => randomTable(dice, name, { noKey, parents: referable(tables) });
  const one = there.length === 0 ? undefined : dice.pick(there);
  if (one === undefined) return [fresh(free[0] as string)];
  const other = dice.pick(there);
  if (dice.percent(55)) return [alter(dice, one, { other, free, noKey, parents: referable(tables) })];
  if (dice.percent(20)) return shadow(dice, one);
  return whole(dice, one, other, { free: free.length === 0 ? undefined : quoted(dice.pick(free)), fresh });
}

/** What is left out by name is not on the target, and what refers to it would refer to nothing there. */
export function referable(tables: readonly CatalogTable[]): CatalogTable[] {
  return tables.filter((table) => !isAside(table.name));
}

/** Statements on whole tables. */
function whole(dice: Dice, one: CatalogTable, other: CatalogTable, { free, fresh }: { free: string | undefined; fresh: (name: string) => string }): string[] {
  const [t, u] = [quoted(one.name), quoted(other.name)];
  const column = quoted((dice.pick(one.columns) ?? { name: "none" }).name);
  const index = quoted((dice.pick(one.indexes) ?? { name: "none" }).name);
  const kinds: (() => string[])[] = [
    () => [`TRUNCATE ${t}`],
    () => [`RENAME TABLE ${t} TO swap, ${u} TO ${t}, swap TO ${u}`],
    () => [`DROP TABLE ${t}`, fresh(t)],
    () => [`DROP TABLE IF EXISTS ${t}, no_such_table`],
    () => [`CREATE TABLE IF NOT EXISTS ${t} LIKE ${u}`],
    () => [`CREATE OR REPLACE VIEW a_view AS SELECT 1 AS one`],
    () => [`DROP TABLE ${t}, ${u}`],
    () => [`CREATE ${dice.pick(["", "UNIQUE "])}INDEX made_${dice.below(9)} ON ${t} (${column})`],
    () => [`DROP INDEX ${index} ON ${t}`],
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
      () => [fresh(free)],
      () => [fresh(free)],
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
