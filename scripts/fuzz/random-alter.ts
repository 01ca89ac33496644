/** A random ALTER TABLE of one or several clauses. */
import { quoted, type CatalogTable } from "./catalog.js";
import type { Dice } from "./dice.js";
import { foreignKeyTo } from "./random-foreign-key.js";
import { indexOn, indexOnSeveral } from "./random-index.js";
import { alterPartitions, partitionBy } from "./random-partitions.js";
import { COLUMN_NAMES } from "./random-table.js";
import { randomColumn, randomKeyType, randomType } from "./random-types.js";

export interface Surroundings {
  other: CatalogTable;
  /** Names that no table has. */
  free: readonly string[];
  noKey: boolean;
  /** What may be referred to. */
  parents: readonly CatalogTable[];
}

export function alter(dice: Dice, table: CatalogTable, around: Surroundings): string {
  const remark = dice.percent(10) ? dice.pick(["/* a `remark` */ ", "/*!80000 */ ", "-- a line's end\n", "/*! */ # more\n"]) : "";
  const count = dice.percent(25) ? 2 + dice.below(2) : 1;
  const changes = table.partitions.length > 0 && dice.percent(40) ? [alterPartitions(dice, table, around.other)] : Array.from({ length: count }, () => clause(dice, table, around));
  return `ALTER TABLE ${remark}${quoted(table.name)} ${changes.join(", ")}`;
}

function clause(dice: Dice, table: CatalogTable, { free, noKey, parents }: Surroundings): string {
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
  const declared = others.map((column) => ({ column: quoted(column.name), declared: column.columnType.toUpperCase() }));
  const index1 = () => (declared.length === 0 ? undefined : indexOn(dice, dice.pick(declared), dice.percent(50))[0]) ?? "INDEX (no_such)";
  const refers = foreignKeyTo(dice, parents, dice.shuffled(["p0", "p1", "p2"]));
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
    () => `ADD ${index1()}`,
    () => `ADD ${index1()}`,
    () => `ADD ${indexOnSeveral(dice, declared, dice.percent(70))[0] ?? index1()}`,
    () => (refers === null ? "FORCE" : `ADD (${refers.columns.join(", ")}), ADD ${refers.clause}`),
    () => `DROP FOREIGN KEY ${quoted(dice.pick(table.foreignKeys) ?? "none")}`,
    () => `DROP CHECK ${quoted(dice.pick(table.checks) ?? "none")}`,
    () => `ADD (${fresh()} ${randomColumn(dice)}, added INT)`,
    () => (noKey ? "DROP PRIMARY KEY" : "FORCE"),
    () => (keyNames.length === 0 ? "ADD PRIMARY KEY (id)" : "FORCE"),
    () => `ADD ${fresh()} JSON AS (JSON_OBJECT('k', ${key()})) STORED`,
    () => partitionBy(dice, key(), table.key[0]?.columnType ?? "int"),
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
    () => `ADD ${fresh()} ${randomType(dice)}, RENAME TO ${free.length === 0 ? quoted(table.name) : quoted(dice.pick(free))}`,
    () => `ADD CONSTRAINT check_${dice.below(9)} CHECK (LENGTH(${key()}) < 1000)`,
    () => `ORDER BY ${a}`,
  ];
  return dice.pick(clauses)();
}
