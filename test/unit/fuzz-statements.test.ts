/** What `npm run fuzz` may come up with: a kind of statement that is not made any more would not be missed by a run that passes. */
import { expect, it } from "vitest";
import type { CatalogColumn, CatalogTable } from "../../scripts/fuzz/catalog.js";
import { Dice } from "../../scripts/fuzz/dice.js";
import { randomDdl } from "../../scripts/fuzz/random-ddl.js";
import { randomTable } from "../../scripts/fuzz/random-table.js";
import { fill, randomTransaction } from "../../scripts/fuzz/random-transaction.js";

const column = (name: string, columnType: string, more: Partial<CatalogColumn> = {}): CatalogColumn => {
  const text = /char|text|enum|set/.test(columnType);
  return { name, dataType: columnType.replace(/\(.*/, ""), columnType, charset: text ? "utf8mb4" : null, collation: text ? "utf8mb4_0900_ai_ci" : null, nullable: true, generated: false, autoIncrement: false, ...more };
};
const id = column("id", "int", { nullable: false });
const code = column("k0", "varchar(20)", { nullable: false });
const table = (name: string, key: CatalogColumn[], more: Partial<CatalogTable> = {}): CatalogTable => ({
  name, key, columns: [...key, column("c0", "varchar(20)"), column("c1", "json"), column("c2", "decimal(10,3)")],
  indexes: [{ name: "PRIMARY", unique: true, columns: key.map((c) => c.name) }, { name: "c0", unique: true, columns: ["c0"] }],
  foreignKeys: ["refers_1"], checks: ["check_1"], partitions: [], ...more,
});
const TABLES = [table("t0", [id]), table("t1", [code], { partitions: ["p0", "p1"] }), table("t2", [id, code])];

const KINDS: Record<string, RegExp> = {
  "a unique key of several columns": /^CREATE TABLE .*UNIQUE KEY \([^()]+, [^()]+\).*UNIQUE KEY|^CREATE TABLE .*PRIMARY KEY .*UNIQUE KEY \([^()]+, /s,
  "a unique key of a prefix": /UNIQUE KEY \([^)]*c\d\(\d\)/,
  "a functional unique key": /UNIQUE KEY \(\((UPPER|REVERSE|LENGTH|MD5)\(/,
  "a unique key of a JSON array's members": /UNIQUE KEY \(\(CAST\(c\d->'\$\.b' AS CHAR\(10\) ARRAY\)\)/,
  "a generated column": / AS \(.*\) (STORED|VIRTUAL)/,
  "an ENUM or SET as a key": /^CREATE TABLE \S+ \((id|k0) (ENUM|SET)/,
  "a DECIMAL as a key": /^CREATE TABLE \S+ \((id|k0) DECIMAL/,
  "a table without a key": /^CREATE TABLE \S+ \((?!.*(PRIMARY|UNIQUE))/s,
  "a foreign key that cascades": /FOREIGN KEY \(.* ON (DELETE|UPDATE) CASCADE/,
  "a foreign key to the table itself": /FOREIGN KEY \(up\)/,
  "a swap of names": /^RENAME TABLE (\S+) TO swap, (\S+) TO \1, swap TO \2$/,
  "a column renamed": /^ALTER TABLE .*RENAME COLUMN/s,
  "several clauses": /^ALTER TABLE \S+ ADD .*, DROP INDEX/s,
  "TRUNCATE": /^TRUNCATE/,
  "partitions by range": /PARTITION BY RANGE/,
  "a partition dropped": /DROP PARTITION/,
  "a partition exchanged": /EXCHANGE PARTITION/,
  "a shadow table": /^CREATE TABLE _shadow LIKE/,
  "CREATE TABLE … SELECT": /^CREATE TABLE .* SELECT \* FROM/,
  "a savepoint": /^ROLLBACK TO SAVEPOINT/,
  "XA in one phase": /^XA COMMIT 'x' ONE PHASE/,
  "very many rows": /^INSERT IGNORE .* WITH RECURSIVE/,
  "a change of case": /^UPDATE .*=UPPER\(/,
  "a made-up primary key": /^SET SESSION sql_generate_invisible_primary_key=ON/,
};

it("makes every kind of statement within some hundred seeds", () => {
  const made: string[] = [];
  for (let seed = 1; seed <= 400; seed++) {
    const dice = new Dice(seed);
    made.push(randomTable(dice, "t9", { noKey: true, parents: TABLES }), ...fill(dice, TABLES[0] as CatalogTable), ...randomTransaction(dice, TABLES), ...randomDdl(dice, TABLES, true), ...randomDdl(dice, TABLES, true));
  }
  const absent = Object.entries(KINDS).filter(([, pattern]) => !made.some((statement) => pattern.test(statement)));
  expect(absent.map(([name]) => name)).toEqual([]);
});
