/** Tools that alter a table through a shadow table, as they do it under writes (case 38): gh-ost and pt-online-schema-change. */
import { expect, it } from "vitest";
import { DdlScene, Writers, numbered } from "./ddl-scene.js";

/** `t` is selected in all of these; the tools' own tables in `everything` only. */
it.each([["their tables are followed too", ["*"]], ["their tables are left out", ["t", "u"]]] as const)("pt-online-schema-change and gh-ost while streaming: %s (case 38)", async (_name, include) => {
  await using scene = await DdlScene.start({
    before: `CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40), n INT); CREATE TABLE u LIKE t; ${numbered("t", 300)}; ${numbered("u", 300)}`,
    tables: (schema) => [{ schema, include: [...include] }],
  });
  await scene.streaming();
  const writers = new Writers(scene, ["t", "u"].flatMap((table) => [
    (i: number) => `INSERT INTO ${table} (id, v) VALUES (${1000 + i}, 'new ${i}')`,
    (i: number) => `UPDATE ${table} SET v='w${i}' WHERE id=${1 + ((i * 3) % 300)}`,
    (i: number) => `DELETE FROM ${table} WHERE id=${1 + ((i * 7) % 300)}`,
  ]));
  await scene.source(`CREATE TABLE _t_new (id INT PRIMARY KEY, v VARCHAR(40), n INT); ALTER TABLE _t_new ADD extra BIGINT NOT NULL DEFAULT 5, MODIFY v VARCHAR(80);
    CREATE TRIGGER pt_osc_del AFTER DELETE ON t FOR EACH ROW DELETE IGNORE FROM _t_new WHERE _t_new.id <=> OLD.id;
    CREATE TRIGGER pt_osc_upd AFTER UPDATE ON t FOR EACH ROW BEGIN DELETE IGNORE FROM _t_new WHERE !(OLD.id <=> NEW.id) AND _t_new.id <=> OLD.id; REPLACE INTO _t_new (id, v, n) VALUES (NEW.id, NEW.v, NEW.n); END;
    CREATE TRIGGER pt_osc_ins AFTER INSERT ON t FOR EACH ROW REPLACE INTO _t_new (id, v, n) VALUES (NEW.id, NEW.v, NEW.n)`);
  for (let from = 0; from < 300; from += 100)
    await scene.source(`INSERT LOW_PRIORITY IGNORE INTO _t_new (id, v, n) SELECT id, v, n FROM t FORCE INDEX (PRIMARY) WHERE id > ${from} AND id <= ${from + 100} LOCK IN SHARE MODE /* pt-online-schema-change copy nibble */`);
  await scene.source("ANALYZE TABLE _t_new; RENAME TABLE t TO _t_old, _t_new TO t; DROP TABLE IF EXISTS _t_old; DROP TRIGGER IF EXISTS pt_osc_del; DROP TRIGGER IF EXISTS pt_osc_upd; DROP TRIGGER IF EXISTS pt_osc_ins");
  // gh-ost: a change log, the ghost, and a swap by a table that holds the name while the others wait.
  await scene.source(`CREATE /* gh-ost */ TABLE _u_ghc (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, hint VARCHAR(64) NOT NULL, value VARCHAR(4096) NOT NULL, UNIQUE KEY (hint)) AUTO_INCREMENT=256;
    CREATE /* gh-ost */ TABLE _u_gho LIKE u; ALTER /* gh-ost */ TABLE _u_gho ADD COLUMN extra VARCHAR(10) DEFAULT 'é', DROP COLUMN n`);
  await scene.source("INSERT /* gh-ost */ IGNORE INTO _u_gho (id, v) (SELECT id, v FROM u FORCE INDEX (PRIMARY) LOCK IN SHARE MODE); INSERT /* gh-ost */ INTO _u_ghc (hint, value) VALUES ('copy iteration 0', 'x') ON DUPLICATE KEY UPDATE value=VALUES(value)");
  await writers.stop();
  await scene.source("REPLACE /* gh-ost */ INTO _u_gho (id, v) SELECT id, v FROM u; DELETE /* gh-ost */ FROM _u_gho WHERE id NOT IN (SELECT id FROM u); CREATE /* gh-ost */ TABLE _u_del (id INT AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB COMMENT='ghost-cut-over-sentry'; DROP /* gh-ost */ TABLE IF EXISTS _u_del");
  await scene.source("RENAME /* gh-ost */ TABLE u TO _u_del, _u_gho TO u; INSERT INTO u VALUES (9000, 'behind', 'x'); DROP /* gh-ost */ TABLE IF EXISTS _u_ghc; DROP /* gh-ost */ TABLE _u_del");
  expect(await scene.differences()).toEqual([]);
  expect(await scene.target(`SELECT extra FROM ${scene.ctx.schema}.u WHERE id=9000`)).toEqual([{ extra: "x" }]);
}, 120_000);
