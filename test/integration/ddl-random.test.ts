/**
 * Random DDL between random writes, while the copy runs and while it streams, with hooks that fail at random: at the end both
 * servers hold the same. DROVER_DDL_SEEDS=20 DROVER_DDL_SEED=7 runs twenty, from the seventh on.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { DroverError } from "../../src/shared/errors.js";
import type { Hooks } from "../../src/workers/hooks.js";
import { DdlScene, numbered } from "./ddl-scene.js";

const SEEDS = Number(process.env["DROVER_DDL_SEEDS"] ?? 1);
const FIRST = Number(process.env["DROVER_DDL_SEED"] ?? 1);
const STEPS = 40;

/** mulberry32 */
function random(seed: number): () => number {
  let a = seed * 0x9e3779b9;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

class Dice {
  private readonly next: () => number;
  constructor(seed: number) {
    this.next = random(seed);
  }
  chance(part: number): boolean {
    return this.next() < part;
  }
  number(below: number): number {
    return Math.floor(this.next() * below);
  }
  pick<T>(list: readonly T[]): T {
    return list[this.number(list.length)] as T;
  }
}

const TYPES = ["INT", "BIGINT UNSIGNED", "VARCHAR(30)", "TEXT", "DECIMAL(10,2)", "DATETIME(3)", "VARBINARY(20)", "DOUBLE", "VARCHAR(30) CHARACTER SET latin1", "ENUM('a','b')", "JSON", "INT NOT NULL DEFAULT 7", "TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP"];

/** Tables of the source and their columns. */
type Known = ReadonlyMap<string, readonly string[]>;

/** Some of these fail, for want of a key or of a value that can be converted; what matters is what gets into the binlog. */
function ddl(dice: Dice, known: Known): string {
  const all = ["a", "b", "c", "d", "e", "_x", "_y"];
  const there = [...known.keys()].filter((name) => all.includes(name));
  const t = there.length === 0 ? "a" : dice.pick(there);
  const u = there.length === 0 ? "b" : dice.pick(there);
  const free = dice.pick(all.filter((name) => !known.has(name)));
  const old = () => dice.pick((known.get(t) ?? ["v"]).filter((name) => name !== "id"));
  const fresh = () => dice.pick(["v", "w", "x", "y", "z"].filter((name) => known.get(t)?.includes(name) !== true));
  const kinds: (() => string)[] = [
    () => `ALTER TABLE ${t} ADD ${fresh()} ${dice.pick(TYPES)}`,
    () => `ALTER TABLE ${t} ADD ${fresh()} ${dice.pick(TYPES)} FIRST, DROP COLUMN ${old()}`,
    () => `ALTER TABLE ${t} DROP COLUMN ${old()}`,
    () => `ALTER TABLE ${t} RENAME COLUMN ${old()} TO ${fresh()}`,
    () => `ALTER TABLE ${t} RENAME COLUMN v TO w, RENAME COLUMN w TO v`,
    () => `ALTER TABLE ${t} MODIFY ${old()} ${dice.pick(TYPES)}`,
    () => `ALTER TABLE ${t} CHANGE ${old()} ${fresh()} ${dice.pick(TYPES)} AFTER id`,
    () => `ALTER TABLE ${t} ADD INDEX (${old()})`,
    () => `ALTER TABLE ${t} MODIFY id ${dice.pick(["INT", "BIGINT", "BIGINT UNSIGNED"])} NOT NULL`,
    () => `ALTER TABLE ${t} CONVERT TO CHARACTER SET ${dice.pick(["utf8mb4", "latin1"])}`,
    () => `ALTER TABLE ${t} ADD ${fresh()} INT AUTO_INCREMENT UNIQUE`,
    () => `ALTER TABLE ${t} ADD ${fresh()} INT, RENAME TO ${free}`,
    () => `ALTER TABLE ${t} DROP PRIMARY KEY, ADD PRIMARY KEY (id)`,
    () => `TRUNCATE ${t}`,
    () => `RENAME TABLE ${t} TO ${free}`,
    () => `RENAME TABLE ${t} TO swap, ${u} TO ${t}, swap TO ${u}`,
    () => `RENAME TABLE ${t} TO ${free}, ${u} TO ${t}`,
    () => `DROP TABLE IF EXISTS ${t}`,
    () => `DROP TABLE ${t}; CREATE TABLE ${t} (id INT PRIMARY KEY, v VARCHAR(40)); INSERT INTO ${t} VALUES (1, 'anew')`,
    () => `CREATE TABLE ${free} (id INT PRIMARY KEY, v VARCHAR(40), ts TIMESTAMP NULL)`,
    () => `CREATE TABLE IF NOT EXISTS ${dice.chance(0.5) ? t : free} LIKE ${u}`,
    () => `CREATE TABLE ${free} (PRIMARY KEY (id)) SELECT * FROM ${u}`,
    () => `CREATE OR REPLACE VIEW view_${t} AS SELECT 1`,
    () => `CREATE TABLE _new LIKE ${t}; ALTER TABLE _new ADD ${fresh()} INT; INSERT INTO _new (id) SELECT id FROM ${t}; RENAME TABLE ${t} TO _old, _new TO ${t}; DROP TABLE _old`,
  ];
  return dice.pick(kinds)();
}

async function knownTables(scene: DdlScene): Promise<Known> {
  const rows = await scene.ctx.source.query("SELECT TABLE_NAME AS name, COLUMN_NAME AS col FROM information_schema.COLUMNS WHERE TABLE_SCHEMA=? ORDER BY 1, ORDINAL_POSITION", [scene.ctx.schema]);
  const known = new Map<string, string[]>();
  for (const row of rows) known.set(String(row["name"]), [...(known.get(String(row["name"])) ?? []), String(row["col"])]);
  return known;
}

function write(dice: Dice): string {
  const t = dice.pick(["a", "b", "c", "d", "e", "_x"]);
  const id = 1 + dice.number(120);
  const kinds = [
    `INSERT INTO ${t} (id, v) VALUES (${id}, '${dice.number(99)}') ON DUPLICATE KEY UPDATE v='${dice.number(99)}'`, `UPDATE ${t} SET v='u${dice.number(99)}' WHERE id BETWEEN ${id} AND ${id + 10}`,
    `DELETE FROM ${t} WHERE id=${id}`, `UPDATE ${t} SET id=id+1000 WHERE id=${id}`, `UPDATE ${t} SET w='${dice.number(99)}' WHERE id=${id}`, `UPDATE ${t} SET x=${dice.number(99)} WHERE id < ${id}`,
  ];
  return dice.pick(kinds);
}

it.each(Array.from({ length: SEEDS }, (_, i) => FIRST + i))("seed %i", async (seed) => {
  const dice = new Dice(seed);
  const faults = new Dice(seed + 1_000_000);
  let failing = true;
  const hooks: Hooks = {
    at: async (point) => {
      if (point.startsWith("chunk") && failing) await sleep(faults.number(60));
      if (failing && faults.chance(0.04)) throw new DroverError("SERVER_BUSY", `planted at ${point}`);
    },
  };
  const tables = ["a", "b", "c"].map((name) => `CREATE TABLE ${name} (id INT PRIMARY KEY, v VARCHAR(40), w VARCHAR(40), KEY (v)); ${numbered(name, 100)}`);
  await using scene = await DdlScene.start({ before: `CREATE TABLE _x (id INT PRIMARY KEY, v VARCHAR(40)); ${tables.join("; ")}`, hooks, options: { chunkRows: 20 }, tables: (schema) => [{ schema, exclude: ["_*"] }] });
  // Some during the copy, some behind it.
  await sleep(dice.number(1500));
  for (let step = 0; step < STEPS; step++) {
    for (let i = dice.number(4); i > 0; i--) await scene.source(write(dice)).catch(() => undefined);
    if (dice.chance(0.6)) for (const statement of ddl(dice, await knownTables(scene)).split("; ")) await scene.source(statement).catch(() => undefined);
    if (dice.chance(0.2)) await sleep(dice.number(2000));
  }
  failing = false;
  expect(await scene.differences({ optional: (name) => name.startsWith("_") })).toEqual([]);
}, 120_000);
