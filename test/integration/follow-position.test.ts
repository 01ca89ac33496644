/** Mode `follow`: the target was filled by other means as of a position of the source, which has gone on since, also by DDL. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { DdlScene, numbered } from "./ddl-scene.js";

const begin = `CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40), n INT); CREATE TABLE s (name VARCHAR(20) PRIMARY KEY, v VARCHAR(40)); CREATE TABLE quiet (id INT PRIMARY KEY, v VARCHAR(40));
  CREATE TABLE u (id INT PRIMARY KEY, v VARCHAR(40) UNIQUE); ${numbered("t", 300)}; ${numbered("quiet", 30)}; ${numbered("u", 30)}; INSERT INTO s VALUES ('a', 'one'), ('b', 'two'), ('c', 'three')`;

/** Rows of every shape that the tables have on their way. */
const backlog = `UPDATE t SET v='changed' WHERE id % 3 = 0; DELETE FROM t WHERE id % 10 = 0; INSERT INTO t VALUES (1000, 'of the old shape', 1);
  ALTER TABLE t ADD COLUMN a VARCHAR(20) NOT NULL DEFAULT 'x' AFTER id, DROP COLUMN n; UPDATE t SET a=CONCAT('a', id) WHERE id < 50; INSERT INTO t VALUES (1001, 'new', 'of the new shape');
  ALTER TABLE t RENAME COLUMN v TO w, ADD INDEX (w); UPDATE t SET id=id+5000 WHERE id BETWEEN 100 AND 120;
  UPDATE s SET name='A', v='in another case' WHERE name='a'; TRUNCATE u; INSERT INTO u VALUES (1, 'v2'), (2, 'v1'); ALTER TABLE u MODIFY v VARCHAR(40) CHARACTER SET latin1, ADD w INT AS (id * 2) STORED;
  BEGIN; UPDATE u SET v=NULL WHERE id=1; UPDATE u SET v='v2' WHERE id=2; UPDATE u SET v='v1' WHERE id=1; COMMIT; INSERT INTO s SELECT CONCAT('n', id), w FROM t WHERE id > 5000`;

it("goes on from the position, through a backlog of rows and DDL, to what is written now", async () => {
  await using scene = await DdlScene.follow({ before: begin, backlog, checked: true });
  await scene.source("INSERT INTO t VALUES (2000, 'now', 'now'); ALTER TABLE quiet ADD k INT; UPDATE quiet SET k=id");
  expect(await scene.differences()).toEqual([]);
}, 120_000);

for (const [what, backlog] of [["with rows", "INSERT INTO quiet VALUES (100, 'more'); DROP TABLE quiet"], ["without", "DROP TABLE quiet"]] as const)
  it(`a table that was dropped since, ${what}, stops the migration: the target would keep it as it was`, async () => {
    await using scene = await DdlScene.follow({ before: begin, backlog });
    let status = await scene.client.status("m");
    for (let i = 0; status.phase !== "failed" && i < 400; i++) {
      await sleep(100);
      status = await scene.client.status("m");
    }
    expect(status).toMatchObject({ phase: "failed", error: { code: "DDL_UNSUPPORTED", message: expect.stringContaining(".quiet is selected") as string } });
  });

it("a table that came and went since, with rows, is nobody's loss", async () => {
  await using scene = await DdlScene.follow({
    before: begin,
    backlog: `CREATE TABLE staging (PRIMARY KEY (id)) SELECT id, v FROM t; UPDATE staging SET v='staged'; DELETE FROM staging WHERE id < 20; DROP TABLE staging;
      CREATE TABLE _new LIKE u; INSERT INTO _new SELECT * FROM u; RENAME TABLE _new TO later; UPDATE later SET v=CONCAT('l', id); DROP TABLE later; UPDATE t SET v='behind them' WHERE id=1`,
  });
  expect(await scene.differences()).toEqual([]);
});
