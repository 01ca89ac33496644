/** Transactions that are hard to follow, from the source's binlog to the target's rows, while the copy runs and while it streams. */
import { expect, it } from "vitest";
import { DdlScene, Gate, numbered } from "./ddl-scene.js";

/** As many rows go through a batch many times over. */
const MANY = 20_000;

it("keys and unique values that move: before their chunks are read, behind them, and while streaming (case 33) (case 34)", async () => {
  const gate = new Gate();
  gate.close();
  await using scene = await DdlScene.start({
    before: `CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40), u INT, w VARCHAR(20) COLLATE utf8mb4_0900_ai_ci, UNIQUE KEY (u), UNIQUE KEY (w)); ${numbered("t", 200)}; UPDATE t SET u=id, w=CONCAT('w', id);
      CREATE TABLE c (k VARCHAR(20) COLLATE utf8mb4_general_ci PRIMARY KEY, v INT); INSERT INTO c SELECT CONCAT('Key', id), id FROM t`,
    hooks: gate, options: { chunkRows: 20, copyConcurrency: 2, batchRows: 10 },
  });
  const moves = async (from: number) => {
    // A key that goes behind all others, one that comes to their front, and all of them by one.
    await scene.source(`UPDATE t SET id=id+10000 WHERE id=${from}; UPDATE t SET id=-id WHERE id=${from + 1}; DELETE FROM t WHERE id=${from + 41}; UPDATE t SET id=id+1 WHERE id BETWEEN ${from + 20} AND ${from + 40} ORDER BY id DESC`);
    // Unique values: a swap, a ring of three, one that a new row takes over, in one transaction each.
    await scene.source(`BEGIN; UPDATE t SET u=NULL WHERE id=${from + 2}; UPDATE t SET u=${from + 2} WHERE id=${from + 3}; UPDATE t SET u=${from + 3} WHERE id=${from + 2}; COMMIT`);
    await scene.source(`BEGIN; UPDATE t SET w=CONCAT('x', w) WHERE id BETWEEN ${from + 4} AND ${from + 6}; UPDATE t SET w=CONCAT('W', 1 + SUBSTRING(w, 3)) WHERE id BETWEEN ${from + 4} AND ${from + 5}; UPDATE t SET w='w${from + 4}' WHERE id=${from + 6}; COMMIT`);
    await scene.source(`BEGIN; DELETE FROM t WHERE id=${from + 7}; INSERT INTO t VALUES (${from + 30000}, 'new', ${from + 7}, 'w${from + 7}'); COMMIT`);
    // The same key to the collation, other bytes.
    await scene.source(`UPDATE c SET k=UPPER(k) WHERE v=${from + 8}; BEGIN; DELETE FROM c WHERE v=${from + 9}; INSERT INTO c VALUES ('kEY${from + 9}', ${from + 9}); COMMIT; UPDATE c SET k=CONCAT(k, '-') WHERE v=${from + 10}; UPDATE c SET k=LOWER(k) WHERE v=${from + 10}`);
  };
  await gate.waiting();
  await moves(1);
  gate.pass();
  await moves(50);
  await scene.streaming();
  await moves(100);
  expect(await scene.differences()).toEqual([]);
});

it("one of many rows goes through in parts; savepoints, XA in one phase, tagged GTIDs, compression by the session (case 35) (case 36) (case 40)", async () => {
  await using scene = await DdlScene.start({ before: `CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40)); ${numbered("t", 100)}`, options: { batchRows: 500, backlogBytes: "256KiB" } });
  await scene.streaming();
  await scene.source(`BEGIN; DELETE FROM t WHERE id < 50; ${numbered("t", MANY).replace("SELECT i,", "SELECT i + 1000,")}; UPDATE t SET v=CONCAT('u', id); DELETE FROM t WHERE id % 7 = 0; COMMIT`);
  await scene.source("SET SESSION binlog_transaction_compression=ON; UPDATE t SET v=REPEAT('x', 40) WHERE id % 5 = 0; SET SESSION binlog_transaction_compression=OFF");
  await scene.source("BEGIN; INSERT INTO t VALUES (1, 'kept'); SAVEPOINT a; INSERT INTO t VALUES (2, 'undone'); DELETE FROM t WHERE id=1; ROLLBACK TO a; INSERT INTO t VALUES (3, 'kept'); COMMIT");
  await scene.source("XA START 'x'; INSERT INTO t VALUES (4, 'xa'); XA END 'x'; XA COMMIT 'x' ONE PHASE; XA START 'y'; INSERT INTO t VALUES (5, 'xa'); XA END 'y'; XA ROLLBACK 'y'");
  await scene.source("SET SESSION gtid_next='AUTOMATIC:drover'; INSERT INTO t VALUES (6, 'tagged'); SET SESSION gtid_next='AUTOMATIC'; INSERT INTO t VALUES (7, 'and not')");
  expect(await scene.differences()).toEqual([]);
  expect(await scene.target(`SELECT COUNT(*) > ${MANY / 2} AS n FROM ${scene.ctx.schema}.t`)).toEqual([{ n: "1" }]);
});
