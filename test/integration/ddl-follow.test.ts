/** DDL of the source while the migration streams (cases 37, 38). */
import { describe, expect, it } from "vitest";
import { DdlScene, Writers, numbered } from "./ddl-scene.js";

describe("DDL while streaming", () => {
  it("columns are added, dropped, renamed and modified under writes (case 37)", async () => {
    await using scene = await DdlScene.start({ before: `CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40), n INT); ${numbered("t", 500)}` });
    await scene.streaming();
    const writers = new Writers(scene, [
      (i) => `INSERT INTO t (id, v) VALUES (${1000 + i}, 'new ${i}') ON DUPLICATE KEY UPDATE v='again'`,
      (i) => `UPDATE t SET id=id+100000 WHERE id=${1 + (i % 500)}`,
      (i) => `DELETE FROM t WHERE id=${1 + ((i * 7) % 500)}`,
    ]);
    await scene.source("ALTER TABLE t ADD COLUMN a VARCHAR(20) NOT NULL DEFAULT 'x' AFTER id");
    await scene.source("UPDATE t SET a=CONCAT('a', id) WHERE id % 3 = 0");
    await scene.source("ALTER TABLE t ADD b INT, DROP COLUMN n");
    await scene.source("UPDATE t SET b=id");
    await scene.source("ALTER TABLE t RENAME COLUMN a TO a2, MODIFY b BIGINT UNSIGNED NULL COMMENT 'it''s; -- b' FIRST");
    await scene.source("ALTER TABLE t CHANGE v w TEXT /*!80000 CHARACTER SET latin1 */, ADD INDEX (b), ADD UNIQUE u (id, b) /*!80000 INVISIBLE */ # end");
    await scene.source("CREATE INDEX `i``x` ON t (w(10) DESC) COMMENT 'a;b'");
    await scene.source("DROP INDEX u ON t");
    await writers.stop();
    await scene.source("INSERT INTO t (id, w) VALUES (99999, 'after')");
    expect(await scene.differences()).toEqual([]);
  });

  it("tables are created, filled, truncated, renamed, swapped and dropped, also to names that are not followed and back (case 37) (case 38)", async () => {
    await using scene = await DdlScene.start({
      before: `CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(40)); CREATE TABLE b (id INT PRIMARY KEY, v VARCHAR(40), x INT); CREATE TABLE c LIKE a; CREATE TABLE d LIKE a;
        ${numbered("a", 20)}; ${numbered("b", 30)}; ${numbered("c", 10)}; ${numbered("d", 15)}`,
      tables: (schema) => [{ schema, exclude: ["tmp_*"] }],
    });
    await scene.streaming();
    await scene.source("INSERT INTO a VALUES (100,'before'); TRUNCATE TABLE a; INSERT INTO a VALUES (101,'behind')");
    await scene.source("RENAME TABLE a TO swap, c TO a, swap TO c");
    await scene.source("UPDATE a SET v='was c'; UPDATE c SET v='was a'");
    await scene.source("CREATE TABLE e (id INT PRIMARY KEY, v TEXT, `ts` TIMESTAMP NULL) DEFAULT CHARSET=latin1; INSERT INTO e VALUES (1,'é','2024-01-01')");
    await scene.source("CREATE TABLE IF NOT EXISTS e (nothing INT); CREATE TABLE f LIKE b; INSERT INTO f VALUES (5,'f',5); DROP TABLE IF EXISTS d, nothing");
    await scene.source("CREATE TABLE tmp_x (id INT PRIMARY KEY); INSERT INTO tmp_x VALUES (1); ALTER TABLE tmp_x ADD y INT; DROP TABLE tmp_x");
    await scene.source("RENAME TABLE b TO tmp_b; INSERT INTO tmp_b VALUES (1000,'under another name',1); ALTER TABLE tmp_b ADD z INT DEFAULT 7");
    await scene.source("ALTER TABLE f ADD y INT, RENAME TO g; INSERT INTO g VALUES (6,'g',6,6)");
    await scene.source("CREATE VIEW v AS SELECT * FROM a; RENAME TABLE v TO v2; DROP VIEW v2; ANALYZE TABLE a; CREATE TABLE gone (id INT PRIMARY KEY); DROP TABLE gone");
    expect(await scene.differences()).toEqual([]);
    await scene.source("RENAME TABLE tmp_b TO b; UPDATE b SET x=id");
    expect(await scene.differences()).toEqual([]);
  });

  it("a table that came with rows, or with unseen ones, is copied while the others go on: CREATE … SELECT, shadow tables, exchanged partitions (case 38)", async () => {
    await using scene = await DdlScene.start({
      before: `CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40)); CREATE TABLE other (id INT PRIMARY KEY, v VARCHAR(40)); ${numbered("t", 50)}; ${numbered("other", 50)};
        CREATE TABLE parts (id INT PRIMARY KEY, v VARCHAR(40)) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (100), PARTITION p1 VALUES LESS THAN MAXVALUE); ${numbered("parts", 150)};
        CREATE TABLE x_part LIKE other; ${numbered("x_part", 3)}`,
      tables: (schema) => [{ schema, exclude: ["_*", "x_*"] }],
    });
    await scene.streaming();
    await scene.source("CREATE TABLE s (KEY (v)) SELECT id, v FROM t; ALTER TABLE s ADD PRIMARY KEY (id); INSERT INTO s VALUES (1000,'after')");
    expect(await scene.differences({ ignore: ["x_part"] })).toEqual([]);
    const writers = new Writers(scene, [(i) => `INSERT INTO other (id, v) VALUES (${1000 + i}, 'new ${i}')`, (i) => `UPDATE t SET v='written ${i}' WHERE id=${1 + (i % 50)}`]);
    // As gh-ost and pt-online-schema-change do it: a shadow table that is not followed.
    await scene.source(`CREATE TABLE _t_gho LIKE t; ALTER TABLE _t_gho ADD n INT NOT NULL DEFAULT 3; INSERT INTO _t_gho (id, v) SELECT id, v FROM t; RENAME TABLE t TO _t_del, _t_gho TO t`);
    await scene.source("UPDATE t SET n=4 WHERE id=7; DROP TABLE _t_del");
    await scene.source("ALTER TABLE parts EXCHANGE PARTITION p0 WITH TABLE x_part; INSERT INTO parts VALUES (4,'exchanged')");
    await scene.source("ALTER TABLE other ADD seq INT NOT NULL AUTO_INCREMENT UNIQUE");
    await scene.source("RENAME TABLE x_part TO joined; INSERT INTO joined VALUES (77,'j') ON DUPLICATE KEY UPDATE v='k'");
    await writers.stop();
    expect(await scene.differences()).toEqual([]);
    const followed = (await scene.client.status("m")).tables.map((table) => table.source.split(".")[1]);
    expect(new Set(followed)).toEqual(new Set(["joined", "other", "parts", "s", "t"]));
    // Both are followed now: the target exchanges them itself.
    await scene.source("ALTER TABLE parts EXCHANGE PARTITION p0 WITH TABLE joined; DELETE FROM joined WHERE id=4; ALTER TABLE parts TRUNCATE PARTITION p1; INSERT INTO parts VALUES (140,'p')");
    expect(await scene.differences()).toEqual([]);
  });
});
