/** What stops a migration, and what does not (cases 35, 38): each error names the table and the cure. */
import { expect, it } from "vitest";
import { setTimeout as sleep } from "node:timers/promises";
import { DdlScene, numbered } from "./ddl-scene.js";

it("each kind of statement stops the migration that it is about, and no other (case 35)", async () => {
  const tables = ["rows_format", "stopping", "ignoring", "keyless", "refused", "clean"];
  await using scene = await DdlScene.start({
    before: `${tables.map((name) => `CREATE TABLE ${name} (id INT PRIMARY KEY, v VARCHAR(40)); ${numbered(name, 5)}`).join("; ")}; CREATE TABLE not_ours LIKE clean`,
    tables: (schema) => [{ schema, table: "clean" }],
  });
  const { schema } = scene.ctx;
  const start = (table: string, ddl: "apply" | "stop" | "ignore") =>
    scene.client.startMigration({ id: table, source: "SRC", target: "DST", tables: [{ schema, table }], options: { ddl } });
  await Promise.all([start("rows_format", "apply"), start("stopping", "stop"), start("ignoring", "ignore"), start("keyless", "apply"), start("refused", "apply")]);
  await scene.streaming();
  for (const id of tables.slice(0, 5)) await scene.client.waitFor(id, "streaming", { timeout: 30_000 });

  await scene.source("SET SESSION binlog_format='STATEMENT'; INSERT INTO not_ours SELECT * FROM rows_format; UPDATE not_ours SET v='x'; SET SESSION binlog_format='ROW'");
  await scene.source("ALTER TABLE ignoring ADD INDEX (v); ALTER TABLE keyless DROP PRIMARY KEY; ALTER TABLE keyless ADD PRIMARY KEY (id); INSERT INTO keyless VALUES (6,'six')");
  for (const id of tables.slice(0, 5)) await scene.client.waitFor(id, "caught-up", { timeout: 30_000 });
  expect(await scene.target(`SELECT COUNT(*) AS n FROM ${schema}.keyless`)).toEqual([{ n: "6" }]);

  await scene.source("SET SESSION binlog_format='STATEMENT'; UPDATE rows_format SET v='secret' WHERE id=1; SET SESSION binlog_format='ROW'");
  await scene.source("ALTER TABLE stopping ADD c INT COMMENT 'secret'");
  await scene.source("ALTER TABLE ignoring ADD c INT; INSERT INTO ignoring VALUES (6,'six',6)");
  await scene.source("ALTER TABLE keyless DROP PRIMARY KEY; INSERT INTO keyless VALUES (7,'seven')");
  await scene.ctx.target.query(`ALTER TABLE ${schema}.refused ADD c INT`);
  await scene.source("ALTER TABLE refused ADD c INT COMMENT 'secret'");
  const errors = Object.fromEntries(await Promise.all(tables.slice(0, 5).map(async (id) => [id, await failure(scene, id)] as const)));
  expect(errors["rows_format"]).toMatch(/^DDL_UNSUPPORTED: transaction .* changes rows of .*\.rows_format in statement format.*binlog_format=ROW/);
  expect(errors["stopping"]).toMatch(/^DDL_UNSUPPORTED: transaction .* is DDL on .*\.stopping, and the migration stops at DDL \(options.ddl\)/);
  expect(errors["ignoring"]).toMatch(/^DDL_UNSUPPORTED: the columns of .*\.ignoring in the binlog are not those that are being followed \(c\)/);
  expect(errors["keyless"]).toMatch(/^DDL_UNSUPPORTED: rows of a table that cannot be followed were changed: .*\.keyless has neither a primary key nor a unique key/);
  expect(errors["refused"]).toMatch(/^STATEMENT_REFUSED: the target refuses the ALTER of transaction .* on .*\.refused: .*1060/);
  expect(JSON.stringify(errors)).not.toContain("secret");

  await scene.source("UPDATE clean SET v='still followed'");
  expect(await scene.differences({ only: ["clean"], targetIgnore: tables.slice(0, 5) })).toEqual([]);
});

it("a statement that the target refuses is executed once the target's table is as the error's cure says", async () => {
  await using scene = await DdlScene.start({
    before: `CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(40), w INT); ${numbered("a", 5)}; CREATE TABLE b (id INT PRIMARY KEY, v VARCHAR(40)); ${numbered("b", 5)}`,
  });
  const { schema } = scene.ctx;
  await scene.streaming();
  const cases = [
    { before: "ALTER TABLE a ADD c INT", statement: "ALTER TABLE a ADD c INT NOT NULL DEFAULT 7 COMMENT 'counted'", cure: "ALTER TABLE a DROP COLUMN c" },
    { before: "ALTER TABLE a ADD INDEX found (v)", statement: "ALTER TABLE a ADD INDEX found (w), ADD CONSTRAINT positive CHECK (id > 0)", cure: "ALTER TABLE a DROP INDEX found" },
    { before: "ALTER TABLE a DROP COLUMN w, ADD INDEX found2 (v)", statement: "ALTER TABLE a DROP COLUMN w", cure: "ALTER TABLE a ADD w INT AFTER v, ADD INDEX found (w), DROP INDEX found2" },
    { before: "CREATE TABLE b2 (id INT PRIMARY KEY)", statement: "ALTER TABLE b ADD INDEX (v), RENAME TO b2", cure: "DROP TABLE b2" },
  ];
  for (const { before, statement, cure } of cases) {
    await scene.ctx.target.query(`USE ${schema}; ${before}`);
    await scene.source(statement);
    expect(await failure(scene, "m")).toMatch(/^(STATEMENT_REFUSED|PREFLIGHT_FAILED)/);
    await scene.ctx.target.query(cure);
    await scene.client.resume("m");
    await scene.source("INSERT INTO a (id, v) VALUES (10 + (SELECT COUNT(*) FROM (SELECT id FROM a) AS n), 'behind')");
    expect({ statement, differences: await scene.differences() }).toEqual({ statement, differences: [] });
  }
});

for (const [statement, table] of Object.entries({ "ALTER TABLE a ENGINE=MyISAM": "a", "CREATE TABLE b (id INT PRIMARY KEY) ENGINE=MEMORY": "b" }))
  it(`an engine without transactions stops the migration: ${statement}`, async () => {
    await using scene = await DdlScene.start({ before: `CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(40)); ${numbered("a", 5)}` });
    await scene.streaming();
    await scene.source(statement);
    expect(await failure(scene, "m")).toMatch(new RegExp(`^DDL_UNSUPPORTED: .*the table .*\\.${table} has the engine (MyISAM|MEMORY) .*ENGINE=InnoDB`));
  });

async function failure(scene: DdlScene, id: string): Promise<string> {
  for (let i = 0; i < 300; i++) {
    const { phase, error } = await scene.client.status(id);
    if (phase === "failed") return `${error?.code}: ${error?.message}`;
    await sleep(100);
  }
  throw new Error(`${id} does not fail`);
}
