/** DDL of the source while tables are being copied (case 37): these start over, the others go on. */
import { expect, it } from "vitest";
import { DroverClient } from "../../src/producers/index.js";
import { loadConfig } from "../../src/shared/config.js";
import { createLogger } from "../../src/shared/logger.js";
import { runWorker } from "../../src/workers/index.js";
import { testContext } from "../support/context.js";
import { DdlScene, Gate, Writers, numbered } from "./ddl-scene.js";

const names = ["added", "dropped", "renamed", "modified", "truncated", "moved", "gone", "away", "indexed", "other"];
const tables = names.map((name) => `CREATE TABLE ${name} (id INT PRIMARY KEY, v VARCHAR(40), n INT); ${numbered(name, 300)}`).join("; ");

it("every kind of DDL during the copy, under writes; chunks were read before and after it (case 37) (case 38)", async () => {
  const gate = new Gate();
  gate.close();
  await using scene = await DdlScene.start({
    before: tables, hooks: gate, options: { chunkRows: 100, copyConcurrency: 2 },
    tables: (schema) => [{ schema, exclude: ["_*"] }],
  });
  await gate.waiting();
  const writers = new Writers(scene, [(i) => `UPDATE other SET v='w${i}' WHERE id=${1 + (i % 300)}`, (i) => `INSERT INTO added (id, v) VALUES (${1000 + i}, 'a')`]);
  // While no chunk was read yet, in the order in which tables are copied.
  await scene.source("ALTER TABLE added ADD a INT NOT NULL DEFAULT 5 FIRST; UPDATE added SET a=id WHERE id < 50");
  await scene.source("ALTER TABLE dropped DROP COLUMN n");
  gate.pass();
  await scene.source("ALTER TABLE renamed RENAME COLUMN v TO w, ADD x INT; UPDATE renamed SET w='later', x=1 WHERE id > 200");
  await scene.source("ALTER TABLE modified MODIFY v TEXT CHARACTER SET latin1, ADD y INT, DROP COLUMN n");
  await scene.source("INSERT INTO truncated (id, v) VALUES (9000, 'x'); TRUNCATE truncated; INSERT INTO truncated (id, v) VALUES (9001, 'y')");
  await scene.source("RENAME TABLE moved TO moved2; UPDATE moved2 SET v='m' WHERE id % 2 = 0; DROP TABLE gone");
  await scene.source("RENAME TABLE away TO _away; INSERT INTO _away (id, v) VALUES (5000, 'l')");
  await scene.source("CREATE INDEX i ON indexed (v); CREATE TABLE created LIKE other; INSERT INTO created SELECT * FROM other LIMIT 20");
  await scene.source("CREATE TABLE selected (PRIMARY KEY (id)) SELECT id, v FROM indexed; RENAME TABLE created TO tmp, selected TO created, tmp TO selected");
  await scene.source("CREATE TABLE short (id INT PRIMARY KEY); DROP TABLE short; RENAME TABLE moved2 TO moved3, moved3 TO moved");
  await writers.stop();
  expect(await scene.differences()).toEqual([]);
}, 120_000);

it("a table that is altered while it starts over, by a worker that dies in between", async () => {
  const gate = new Gate();
  gate.failures.set("table:before-create", 1).set("table:after-create", 2);
  gate.close();
  await using scene = await DdlScene.start({
    before: `CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40), n INT, KEY (v)); ${numbered("t", 6000)}; ANALYZE TABLE t; CREATE TABLE u LIKE t; ${numbered("u", 50)}`,
    hooks: gate, options: { chunkRows: 2000 },
  });
  await gate.waiting();
  await scene.source("ALTER TABLE t DROP COLUMN n, ADD m INT DEFAULT 1; ALTER TABLE u ADD m INT DEFAULT 2");
  gate.pass();
  await scene.source("ALTER TABLE t ADD o INT DEFAULT 3, ADD KEY (o)");
  expect(await scene.differences()).toEqual([]);
  expect([...gate.failures.values()]).toEqual([0, 0]);
});

it("mode copy without a follow: a table whose columns are gone starts over", async () => {
  const gate = new Gate();
  gate.close();
  await using scene = await DdlScene.start({ before: `CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40), n INT); ${numbered("t", 300)}`, hooks: gate, options: { chunkRows: 50 }, mode: "copy" });
  await gate.waiting();
  await scene.source("ALTER TABLE t DROP COLUMN n");
  gate.pass();
  await scene.client.waitFor("m", "stopped", { timeout: 30_000 });
  expect(await scene.target(`SELECT COUNT(*) AS n FROM ${scene.ctx.schema}.t`)).toEqual([{ n: "300" }]);
});

it("chunks that were read behind a statement which the tail meets only after the copy", async () => {
  const gate = new Gate();
  gate.close();
  await using scene = await DdlScene.start({
    before: `CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40), w VARCHAR(40)); CREATE TABLE one (id INT PRIMARY KEY, v VARCHAR(40)); CREATE TABLE two LIKE one;
      ${numbered("t", 300)}; UPDATE t SET w='other'; ${numbered("one", 10)}; ${numbered("two", 20)}`,
    hooks: gate, options: { chunkRows: 100 }, queues: ["control", "copy"],
  });
  await gate.waiting();
  // Read behind these, and changed by them once more, rows would be swapped back.
  await scene.source("ALTER TABLE t RENAME COLUMN v TO w, RENAME COLUMN w TO v; RENAME TABLE one TO tmp, two TO one, tmp TO two");
  gate.pass();
  await scene.client.waitFor("m", "copied", { timeout: 30_000 });
  await scene.source("UPDATE t SET w='later' WHERE id=5; INSERT INTO one VALUES (100, 'later')");
  await scene.stopWorker();
  await scene.startWorker();
  expect(await scene.differences()).toEqual([]);
});

it("a row that fits the altered source but not the target yet: the table starts over instead of failing", async () => {
  const gate = new Gate();
  gate.close();
  await using scene = await DdlScene.start({
    before: `CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(5)); ${numbered("t", 20)}; CREATE TABLE k (a INT, b INT, v VARCHAR(5), PRIMARY KEY (a)); INSERT INTO k VALUES (1,1,'x')`,
    hooks: gate, queues: ["control", "copy"],
  });
  await gate.waiting();
  await scene.source("ALTER TABLE t MODIFY v VARCHAR(500); UPDATE t SET v=REPEAT('long', 100); ALTER TABLE k DROP PRIMARY KEY, DROP a, ADD PRIMARY KEY (b)");
  gate.pass();
  await scene.client.waitFor("m", "copied", { timeout: 30_000 });
  await scene.stopWorker();
  await scene.startWorker();
  expect(await scene.differences()).toEqual([]);
});

it("names of constraints that belong to another table meanwhile: both tables start over", async () => {
  const gate = new Gate();
  gate.close();
  await using scene = await DdlScene.start({
    before: `CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(40), CONSTRAINT one CHECK (id > 0)); CREATE TABLE b (id INT PRIMARY KEY, v VARCHAR(40), p INT, CONSTRAINT two CHECK (id > -1), CONSTRAINT f FOREIGN KEY (p) REFERENCES a (id));
      CREATE TABLE other (id INT PRIMARY KEY, v VARCHAR(40)); ${numbered("a", 30)}; ${numbered("b", 40)}; ${numbered("other", 30)}`,
    hooks: gate, options: { chunkRows: 10 },
  });
  await gate.waiting();
  await scene.source("RENAME TABLE a TO swap, b TO a, swap TO b; ALTER TABLE a DROP CONSTRAINT f; ALTER TABLE other ADD p INT, ADD CONSTRAINT f FOREIGN KEY (p) REFERENCES b (id)");
  gate.pass();
  await scene.source("UPDATE other SET p=id WHERE id < 20; INSERT INTO a (id, v) VALUES (1000, 'a')");
  expect(await scene.differences()).toEqual([]);
});

it("two tables that want one name of a constraint: refused, and not dropped for each other again and again", async () => {
  await using ctx = await testContext({ allowedKey: () => true });
  await ctx.source.query(`CREATE DATABASE ${ctx.schema}_b; CREATE TABLE ${ctx.schema}.a (id INT PRIMARY KEY, CONSTRAINT one CHECK (id > 0)); CREATE TABLE ${ctx.schema}_b.b (id INT PRIMARY KEY, CONSTRAINT one CHECK (id > 1))`);
  const config = loadConfig(ctx.env);
  const worker = await runWorker({ config, log: createLogger("silent") });
  const client = new DroverClient({ config });
  try {
    await client.startMigration({ id: "m", source: "SRC", target: "DST", tables: [{ schema: ctx.schema }, { schema: `${ctx.schema}_b`, targetSchema: ctx.schema }] });
    await expect(client.waitFor("m", "copied", { timeout: 30_000 })).rejects.toMatchObject({ code: "MIGRATION_FAILED" });
    expect((await client.status("m")).error).toMatchObject({ code: "STATEMENT_REFUSED", errno: 3822 });
  } finally {
    await worker.close();
    await client.close();
  }
});

it("both ends of a foreign key get another type, and a reference to a column that is new: the other end starts over, too", async () => {
  const gate = new Gate();
  gate.close();
  await using scene = await DdlScene.start({
    before: `SET foreign_key_checks=0; CREATE TABLE child (id INT PRIMARY KEY, v VARCHAR(40), p INT, CONSTRAINT f FOREIGN KEY (p) REFERENCES parent (id)); CREATE TABLE parent (id INT PRIMARY KEY, v VARCHAR(40));
      CREATE TABLE later (id INT PRIMARY KEY, v VARCHAR(40)); CREATE TABLE referring (id INT PRIMARY KEY, v VARCHAR(40), p INT); CREATE TABLE zero (id INT PRIMARY KEY, v VARCHAR(40), z INT, CONSTRAINT z FOREIGN KEY (z) REFERENCES upper (id));
      CREATE TABLE upper (id INT PRIMARY KEY, v VARCHAR(40)); CREATE TABLE parted (id INT PRIMARY KEY, v VARCHAR(40)); CREATE TABLE w (id INT PRIMARY KEY, v VARCHAR(40), p INT, CONSTRAINT w FOREIGN KEY (p) REFERENCES parted (id)); ${["parent", "child", "later", "referring", "upper", "zero", "parted", "w"].map((t) => numbered(t, 30)).join("; ")}; UPDATE child SET p=id; UPDATE zero SET z=id; SET foreign_key_checks=1`,
    hooks: gate, options: { chunkRows: 10 },
  });
  await gate.waiting();
  // All of it before any table is created anew: what the source shows then fits nothing that the target has.
  await scene.source(`ALTER TABLE child DROP FOREIGN KEY f; ALTER TABLE parent MODIFY id BIGINT NOT NULL; ALTER TABLE child MODIFY p BIGINT, ADD CONSTRAINT f FOREIGN KEY (p) REFERENCES parent (id);
    ALTER TABLE later ADD code INT NOT NULL DEFAULT 0; UPDATE later SET code=id; ALTER TABLE later ADD UNIQUE KEY (code); ALTER TABLE referring ADD CONSTRAINT r FOREIGN KEY (p) REFERENCES later (code);
    ALTER TABLE zero DROP FOREIGN KEY z; ALTER TABLE zero MODIFY z BIGINT; ALTER TABLE upper MODIFY id BIGINT NOT NULL; ALTER TABLE zero ADD CONSTRAINT z FOREIGN KEY (z) REFERENCES upper (id);
    ALTER TABLE w DROP FOREIGN KEY w; ALTER TABLE parted PARTITION BY HASH (id) PARTITIONS 3`);
  gate.pass();
  await scene.source("UPDATE referring SET p=id; INSERT INTO parent VALUES (5000000000, 'far'); INSERT INTO child VALUES (50, 'c', 5000000000)");
  expect(await scene.differences()).toEqual([]);
});

it("a table that another one replaces while it is being cut: its keys are of another type, and never become a part of a statement", async () => {
  const gate = new Gate();
  gate.close();
  await using scene = await DdlScene.start({
    before: `CREATE TABLE n (id INT PRIMARY KEY, v VARCHAR(40)); CREATE TABLE d (id DATETIME PRIMARY KEY, v VARCHAR(40)); CREATE TABLE u (id VARCHAR(40) CHARACTER SET utf8mb3 PRIMARY KEY, v VARCHAR(40));
      CREATE TABLE b (id VARBINARY(60) PRIMARY KEY, v VARCHAR(40)); CREATE TABLE b2 LIKE b; CREATE TABLE b3 LIKE b; ${numbered("n", 3)}; INSERT INTO d VALUES ('2024-01-01', 'd'); INSERT INTO u VALUES ('u', 'u');
      INSERT INTO b VALUES ('0 OR SLEEP(3)', 'b'), (X'FF27', 'quote'), ('~) OR 1=1 -- ', 'b'); INSERT INTO b2 SELECT * FROM b; INSERT INTO b3 SELECT * FROM b`,
    hooks: gate, options: { chunkRows: 1, copyConcurrency: 1 }, queues: ["control", "copy"],
  });
  await gate.waiting();
  // No tail sees these: whoever reads a key of them must notice by itself.
  await scene.source("RENAME TABLE n TO swap, b TO n, swap TO b; RENAME TABLE d TO swap, b2 TO d, swap TO b2; RENAME TABLE u TO swap, b3 TO u, swap TO b3");
  gate.pass();
  await scene.client.waitFor("m", "copied", { timeout: 60_000 });
  await scene.stopWorker();
  await scene.startWorker();
  expect(await scene.differences()).toEqual([]);
});
