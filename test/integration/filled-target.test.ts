/** `existingTarget: "resume"` on tables that have rows: in the end the target equals the source, and no transaction grows with what is there. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { HookPoint, Hooks } from "../../src/workers/hooks.js";
import { DdlScene, Gate, numbered } from "./ddl-scene.js";

const shapes = `CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(40)); CREATE TABLE nothing LIKE a; CREATE TABLE late LIKE a; CREATE TABLE one LIKE a;
  CREATE TABLE s (name VARCHAR(20), part INT, v VARCHAR(40), PRIMARY KEY (name, part DESC)); CREATE TABLE u (id INT PRIMARY KEY, v INT UNIQUE)`;
const sequence = (count: number) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<${count}) SELECT`;

/** The source's keys of `a` lie between 201 and 600, but for every seventh. */
const source = `${shapes}; ${numbered("a", 600)}; DELETE FROM a WHERE id <= 200 OR id % 7 = 0; INSERT INTO one VALUES (50, 'the only one');
  INSERT INTO s ${sequence(200)} CONCAT('name', i DIV 3), i, 'source' FROM n; INSERT INTO u ${sequence(200)} i, i FROM n`;
/** Rows before, between and behind those, rows that differ, rows that are missing, keys in another case, unique values in other places. */
const target = `${shapes}; ${numbered("a", 1500)}; UPDATE a SET v='differs' WHERE id % 5 = 0; DELETE FROM a WHERE id % 3 = 0; ${numbered("nothing", 300)}; ${numbered("late", 300)}; ${numbered("one", 300)};
  INSERT INTO s ${sequence(300)} CONCAT(IF(i % 2, 'NAME', 'name'), i DIV 4), i, IF(i % 3, 'source', 'target') FROM n; INSERT INTO s VALUES ('', 0, 'before'), ('zz', 1, 'behind');
  INSERT INTO u ${sequence(300)} i + 100, 301 - i FROM n`;

it("rows that differ, are missing, or are the target's alone, before, between and behind the source's, under writes", async () => {
  const gate = new Gate();
  gate.close();
  await using scene = await DdlScene.start({ before: source, beforeTarget: target, hooks: gate, options: { existingTarget: "resume", chunkRows: 40, copyConcurrency: 3 } });
  await gate.waiting();
  // Of keys that only the target has, of keys that both have, and of some that will be beyond the last chunk's.
  await scene.source("INSERT INTO a VALUES (7, 'new'), (203, 'new'), (1001, 'new'), (9000, 'new'); DELETE FROM a WHERE id IN (205, 600, 1001); UPDATE a SET id=id+1000 WHERE id BETWEEN 300 AND 320");
  await scene.source("INSERT INTO late VALUES (5, 'new'), (500, 'new'); UPDATE s SET name='ZZ' WHERE part=1; UPDATE u SET v=NULL WHERE id < 20; UPDATE u SET v=20-id WHERE id < 20");
  gate.pass();
  await scene.source("DELETE FROM a WHERE id < 230; INSERT INTO a VALUES (1002, 'later'), (201, 'later'); UPDATE u SET id=id+5000 WHERE id > 150; INSERT INTO nothing VALUES (4, 'later')");
  expect(await scene.differences()).toEqual([]);
});

it("mode copy", async () => {
  await using scene = await DdlScene.start({ before: source, beforeTarget: target, mode: "copy", options: { existingTarget: "resume", chunkRows: 40 } });
  await scene.client.waitFor("m", "stopped", { timeout: 30_000 });
  for (const table of ["a", "nothing", "late", "one", "s", "u"]) {
    const all = `SELECT * FROM ${scene.ctx.schema}.${table} ORDER BY 1, 2`;
    expect(await scene.ctx.target.query(all)).toEqual(await scene.ctx.source.query(all));
  }
});

/** Rows that one transaction may delete, with `chunkRows` of a few. */
const PORTION = 10_000;

it("a table that is empty on the source, one with rows behind the last key and one without a key: many rows go in many short transactions", async () => {
  const portions = new Portions();
  const filled = `CREATE TABLE none (id INT PRIMARY KEY, v VARCHAR(40)); CREATE TABLE behind LIKE none; CREATE TABLE nokey (id INT, v VARCHAR(40))`;
  await using scene = await DdlScene.start({
    before: `${filled}; ${numbered("behind", 250)}; ${numbered("nokey", 50)}`, beforeTarget: `${filled}; ${numbered("none", 35_000)}; ${numbered("behind", 35_000)}; ${numbered("nokey", 35_000)}`,
    hooks: portions, options: { existingTarget: "resume", chunkRows: 100, allowNoKey: true },
  });
  const largest = largestTransaction(scene);
  await scene.streaming();
  expect(await largest.end()).toBeLessThanOrEqual(PORTION + 1_000);
  expect(await scene.differences()).toEqual([]);
  expect([...portions.rows.keys()].toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
  for (const rows of portions.rows.values()) {
    expect(Math.max(...rows)).toBeLessThanOrEqual(PORTION);
    expect(rows.length).toBeGreaterThanOrEqual(3);
  }
});

/** What transactions of clearing have deleted, by table. */
class Portions implements Hooks {
  readonly rows = new Map<number, number[]>();

  at(point: HookPoint, detail: Record<string, string | number>): Promise<void> {
    const table = Number(detail["table"]);
    if (point === "chunk:after-clear") this.rows.set(table, [...(this.rows.get(table) ?? []), Number(detail["rows"])]);
    return Promise.resolve();
  }
}

/** The most rows that a transaction of ours on the target was seen with. */
function largestTransaction(scene: DdlScene): { end(): Promise<number> } {
  let running = true;
  const watching = (async () => {
    const db = await scene.ctx.target.connect();
    let largest = 0;
    while (running) {
      const [rows] = await db.query(`SELECT MAX(t.trx_rows_modified) AS n FROM information_schema.INNODB_TRX t JOIN performance_schema.processlist p ON p.ID=t.trx_mysql_thread_id WHERE p.USER='${scene.ctx.target.user}'`);
      largest = Math.max(largest, Number((rows as { n: string | null }[])[0]?.n ?? 0));
      await sleep(10);
    }
    return largest;
  })();
  return {
    end: async () => {
      running = false;
      return await watching;
    },
  };
}
