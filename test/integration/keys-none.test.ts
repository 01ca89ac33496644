/** Tables without any usable key (`allowNoKey`, case 24): every row as often as on the source, whatever comes between. */
import type { Connection } from "mysql2/promise";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, inject, it } from "vitest";
import { DroverError } from "../../src/shared/errors.js";
import { FaultScene, Loop, until } from "../support/fault-scene.js";
import { Dice } from "./keys-history.js";

/** Every kind of value that a full-row match has to find; `u` may be NULL, so its unique key is no row key. */
const TABLES = `
  CREATE TABLE plain (a INT NULL, b VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci NULL, KEY (a), KEY (b));
  INSERT INTO plain VALUES (1,'a'),(1,'a'),(1,'A'),(NULL,NULL),(NULL,NULL),(2,'x'),(2,'x ');
  CREATE TABLE nullable_unique (u INT NULL UNIQUE, v INT);
  INSERT INTO nullable_unique VALUES (1,1),(2,2),(NULL,3),(NULL,3);
  CREATE TABLE wide (f FLOAT, d DOUBLE, n DECIMAL(20,5), z INT(5) ZEROFILL, t TIMESTAMP(3) NULL, dt DATETIME(6), y YEAR, tm TIME(2), bi BIT(9), e ENUM('','x','y'), s SET('p','q'),
    l VARCHAR(9) CHARACTER SET latin1, g VARCHAR(9) CHARACTER SET gbk, c CHAR(4), bn BINARY(4), bl BLOB, tx TEXT, j JSON, p POINT SRID 4326, g2 INT GENERATED ALWAYS AS (z+1) STORED, KEY (f), KEY (n), KEY (e), KEY (l));
  INSERT INTO wide (f,d,n,z,t,dt,y,tm,bi,e,s,l,g,c,bn,bl,tx,j,p) VALUES
    (1.1, -0e0, 1.50000, 7, '2024-01-01 12:00:00.5', '2024-01-01', 2024, '-00:00:01.5', b'101', 0, 'p,q', _latin1 0xe981, _gbk 0x815c, 'a', 0x0100, 0x00ff, 'é', '{"a":1.10,"b":[1e2,"x"],"__proto__":null}', ST_GeomFromText('POINT(1 2)',4326)),
    (1.1, 0e0, 1.5, 7, '2024-01-01 12:00:00.5', '2024-01-01', 2024, '-00:00:01.5', b'101', 1, 'p,q', _latin1 0xe981, _gbk 0x815c, 'a', 0x01, 0x00ff, 'é', '{"a":1.1,"b":[100,"x"],"__proto__":null}', ST_GeomFromText('POINT(1 2)',4326)),
    (NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
  INSERT INTO wide (f,d,n,z,t,dt,y,tm,bi,e,s,l,g,c,bn,bl,tx,j,p) SELECT f,d,n,z,t,dt,y,tm,bi,e,s,l,g,c,bn,bl,tx,j,p FROM wide;
  CREATE TABLE keyed (id INT PRIMARY KEY, v INT);
  INSERT INTO keyed SELECT i, i FROM JSON_TABLE(CONCAT('[0',REPEAT(',0',199),']'), '$[*]' COLUMNS (i FOR ORDINALITY)) AS t;`;

const SESSION = "SET SESSION sql_mode='', time_zone='-05:00'";

function statement(dice: Dice): string {
  const a = () => dice.of(["NULL", "1", "2", "3"]);
  const b = () => dice.of(["NULL", "'a'", "'A'", "'á'", "'x'", "'x '", "''"]);
  switch (dice.below(9)) {
    case 0:
    case 1:
      return `INSERT INTO plain VALUES (${a()},${b()}),(${a()},${b()})`;
    case 2:
      return `DELETE FROM plain WHERE a <=> ${a()} LIMIT 2`;
    case 3:
      return `UPDATE plain SET b=${b()} WHERE a <=> ${a()} LIMIT 3`;
    case 4:
      return `REPLACE INTO nullable_unique VALUES (${dice.of(["NULL", "1", "2", "3", "4"])}, ${dice.below(3)})`;
    case 5:
      return `UPDATE IGNORE nullable_unique SET u=${dice.of(["NULL", "1", "2", "3", "4"])} WHERE v=${dice.below(3)} LIMIT 2`;
    case 6:
      return `UPDATE wide SET z=${dice.below(4)}, ${dice.of(["f=f*2", "d=-d", "j=JSON_SET(j,'$.a',CAST(1.5 AS DECIMAL(5,2)))", "tx=CONCAT(tx,'ü')", "bn=0x02", "e=2", "t='2024-07-01 00:00:00.25'", "f=NULL"])} LIMIT 2`;
    case 7:
      return `INSERT INTO wide (f,d,l) VALUES (${dice.of(["0.1", "3e38", "1"])}, ${dice.of(["0.1", "1e308", "-0e0"])}, ${dice.of(["'é'", "'E'", "NULL"])})`;
    default:
      return `DELETE FROM wide WHERE z=${dice.below(4)} LIMIT 1`;
  }
}

async function write(db: Connection, dice: Dice, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    if (dice.below(4) > 0) await db.query(statement(dice));
    else await db.query(`BEGIN; ${statement(dice)}; UPDATE keyed SET v=v+1 WHERE id<${dice.below(50)}; ${statement(dice)}; ${statement(dice)}; COMMIT`);
  }
}

const open = (tables: string) => FaultScene.open(inject("servers"), `${SESSION}; ${tables}`);

describe("tables without a key", () => {
  it("are refused by default, and with allowNoKey when they are filtered or too large, each with its cure (case 24)", async () => {
    await using scene = await open("CREATE TABLE t (a INT); CREATE TABLE big (a INT); INSERT INTO big SELECT 1 FROM JSON_TABLE(CONCAT('[0',REPEAT(',0',399),']'), '$[*]' COLUMNS (i FOR ORDINALITY)) AS x, JSON_TABLE(CONCAT('[0',REPEAT(',0',250),']'), '$[*]' COLUMNS (i FOR ORDINALITY)) AS y;");
    const spec = { id: "m", source: "SRC", target: "DST" };
    const check = async (tables: object[], options = {}) => (await scene.client.check({ ...spec, tables: tables as never, options })).filter((f) => f.severity === "error").map((f) => [f.code, f.cure !== ""]);
    expect(await check([{ schema: scene.schema, table: "t" }])).toEqual([["table-key", true]]);
    expect(await check([{ schema: scene.schema, table: "t", allowNoKey: true }])).toEqual([]);
    expect(await check([{ schema: scene.schema, table: "t", where: "a>1" }], { allowNoKey: true })).toEqual([["no-key", true]]);
    expect(await check([{ schema: scene.schema }], { allowNoKey: true })).toEqual([["no-key-size", true]]);
  });

  it("are copied at an exact position and followed change by change: during the copy, across crashes and in parts (case 24)", async () => {
    await using scene = await open(TABLES);
    const db = await scene.connect();
    await db.query(SESSION);
    const dice = new Dice(Number(process.env["DROVER_TEST_SEED"] ?? 24));
    let copied = false;
    let turn = Promise.resolve();
    const some = (times: number) => (turn = turn.then(() => write(db, dice, times)));
    // Between the readings of positions, the reads and the commits.
    const writer = new Loop(() => some(1), 3);
    let drained = 0;
    let crashes = 0;
    let parts = 0;
    let selects = 0;
    const hooks = {
      at: async (point: string) => {
        // Between the position and the read: its rows would be there twice.
        if (point === "chunk:before-select" && selects++ < 6) await (turn = turn.then(() => db.query("INSERT INTO plain VALUES (6,'six'); INSERT INTO nullable_unique VALUES (NULL,66)")).then(() => undefined));
        if (point === "chunk:after-read" && !copied) await some(4);
        if (point === "batch:before-commit" && !copied) drained += 1;
        // What a worker that dies here leaves: nothing of the batch, and it comes again.
        if ((point === "batch:before-commit" || point === "batch:after-commit") && crashes < 1 && dice.below(4) === 0) {
          crashes += 1;
          throw new DroverError("CONNECTION_LOST", "planted");
        }
        // Between two parts of a transaction everything begins anew, as after a pause: it is read again from its beginning.
        if (point === "batch:after-commit" && parts > 0 && --parts === 0) await scene.state("UPDATE @state.fence SET epoch=epoch+1");
      },
    };
    await scene.worker(hooks);
    await scene.start({ allowNoKey: true, chunkRows: 10, backlogBytes: "16KiB", batchRows: 10, batchBytes: "4KiB" });
    await until(async () => (await scene.chunksDone()) > 0, "the first chunk");
    await sleep(500);
    await writer.stop();
    await scene.phase("streaming", 90_000);
    copied = true;
    await some(120);
    await scene.applied();
    parts = 4;
    // Larger than four batches: applied in parts, two of them beside each other.
    await db.query("BEGIN; INSERT INTO plain SELECT id, 'p' FROM keyed; UPDATE keyed SET v=v+1; UPDATE plain SET b='q' WHERE b='p' AND a>100; DELETE FROM plain WHERE b='q' LIMIT 50; COMMIT");
    await some(20);
    expect(await scene.differences()).toEqual([]);
    expect(drained).toBeGreaterThan(0);
    expect([crashes, parts]).toEqual([1, 0]);
    // How far a transaction came in parts stands by itself, not where other tables keep the planner's last key.
    expect(await scene.state("SELECT no_key_mark IS NOT NULL AS marked, last_key IS NOT NULL AS planned FROM @state.tables WHERE source_table='plain'")).toEqual([{ marked: 1, planned: 0 }]);
    const { diffId } = await scene.client.startDiff("m");
    const report = await scene.client.waitForDiff("m", diffId, { timeout: 60_000 });
    expect(report).toMatchObject({ state: "completed", hasMismatch: false });
    const [plain] = await scene.sql<{ n: number }>("source", `SELECT COUNT(*) AS n FROM ${scene.schema}.plain`);
    expect(report.tables.find((t) => t.source.endsWith(".plain"))).toMatchObject({ rowsCompared: plain?.n, matching: plain?.n });
    db.destroy();
  }, 150_000);

  it("a diff counts what differs, a repair refuses with a reason, and a row that somebody took away stops the follow", async () => {
    await using scene = await open("CREATE TABLE t (a INT, b VARCHAR(9)); INSERT INTO t VALUES (1,'x'),(1,'x'),(1,'x'),(2,'y'),(3,'z')");
    await scene.worker();
    await scene.start({ allowNoKey: true });
    await scene.phase("streaming");
    // Two of the three equal rows are gone: an XOR would not see it. And one row too many.
    await scene.sql("target", `DELETE FROM ${scene.schema}.t WHERE a=1 LIMIT 2; INSERT INTO ${scene.schema}.t VALUES (9,'extra')`);
    const { diffId } = await scene.client.startDiff("m");
    const report = await scene.client.waitForDiff("m", diffId, { timeout: 60_000 });
    expect(report).toMatchObject({ state: "completed", hasMismatch: true });
    expect(report.tables[0]).toMatchObject({ missingOnTarget: 2, extraOnTarget: 1, mismatched: 0, inconclusive: 0, matching: 3, samples: [] });
    const repair = await scene.client.repairDiff("m", diffId, { timeout: 60_000 });
    expect(repair).toMatchObject({ state: "failed", repaired: 0, refused: 3 });
    expect(repair.error?.message).toMatch(/has no key/);
    await scene.sql("source", `DELETE FROM ${scene.schema}.t WHERE a=1`);
    await scene.phase("failed");
    const { error } = await scene.client.status("m");
    expect(error).toMatchObject({ code: "ROW_MISSING" });
    expect(error?.message).toMatch(/\.t, which has no key/);
    expect(error?.message).not.toMatch(/'x'|extra/);
  }, 90_000);
});
