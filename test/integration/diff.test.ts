/** The diff's verdicts on two real servers that do not change: every kind of difference, and none that is not there. */
import { describe, expect, it } from "vitest";
import { textRow } from "../../src/shared/columns/text-row.js";
import type { ByteSql } from "../../src/shared/mysql/bytes.js";
import { testContext } from "../support/context.js";
import { DiffScene } from "./diff-scene.js";

const NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<1000)";

describe("diff of tables at rest", () => {
  it("finds equal tables equal, and counts their rows", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx, { tuning: { firstRows: 300, leafRows: 50 } });
    await scene.both(
      "CREATE TABLE {db}.a (id INT PRIMARY KEY, v VARCHAR(20))", `INSERT INTO {db}.a ${NUMBERS} SELECT i, CONCAT('v', i) FROM n`,
      "CREATE TABLE {db}.empty (id INT PRIMARY KEY, v VARCHAR(20))",
    );
    await scene.register("a", "empty");
    const report = await scene.diff();
    expect(report).toMatchObject({ state: "completed", hasMismatch: false, attempts: 1, lastError: null, progress: { percent: 100, etaSeconds: 0 } });
    expect(report.tables.map((t) => [t.source, t.rowsCompared, t.matching, t.state])).toEqual([[`${ctx.schema}.a`, 1000, 1000, "completed"], [`${ctx.schema}.empty`, 0, 0, "completed"]]);
  });

  it("finds a value, a missing row, an extra row, and names the columns", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx, { tuning: { firstRows: 300, leafRows: 50 } });
    await scene.both("CREATE TABLE {db}.a (id INT PRIMARY KEY, v VARCHAR(20), w INT)", `INSERT INTO {db}.a ${NUMBERS} SELECT i, CONCAT('v', i), i FROM n`);
    await scene.register("a");
    await scene.target("UPDATE {db}.a SET v='other', w=0 WHERE id=500");
    await scene.target("DELETE FROM {db}.a WHERE id IN (1, 1000)");
    await scene.target("INSERT INTO {db}.a VALUES (0,'x',1), (5000,'y',2)");
    const report = await scene.diff();
    expect(report.hasMismatch).toBe(true);
    expect(report.tables[0]).toMatchObject({ rowsCompared: 1000, matching: 997, mismatched: 1, missingOnTarget: 2, extraOnTarget: 2, inconclusive: 0 });
    expect([...(report.tables[0]?.samples ?? [])].sort((a, b) => Number(a.key["id"]) - Number(b.key["id"]))).toEqual([
      { kind: "extraOnTarget", key: { id: "0" }, columns: [] },
      { kind: "missingOnTarget", key: { id: "1" }, columns: [] },
      { kind: "mismatched", key: { id: "500" }, columns: ["v", "w"] },
      { kind: "missingOnTarget", key: { id: "1000" }, columns: [] },
      { kind: "extraOnTarget", key: { id: "5000" }, columns: [] },
    ]);
  });

  it("tells values apart that look alike (case 17)", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx);
    await scene.both(`CREATE TABLE {db}.a (id INT PRIMARY KEY, a VARCHAR(20), b VARCHAR(20), c CHAR(10) COLLATE utf8mb4_0900_ai_ci, j JSON, f FLOAT, d DOUBLE, t TIMESTAMP NULL, n DECIMAL(10,2), l VARCHAR(10) CHARACTER SET latin1, bin VARBINARY(10))`,
      `INSERT INTO {db}.a VALUES (1,'x0','y','a','{"k": 1, "m": [1,2]}',1.5,1.5,'2024-01-01 10:00:00',1.10,'ä',x'00')` , `INSERT INTO {db}.a SELECT id+1,a,b,c,j,f,d,t,n,l,bin FROM {db}.a`, `INSERT INTO {db}.a SELECT id+2,a,b,c,j,f,d,t,n,l,bin FROM {db}.a`,
      `INSERT INTO {db}.a SELECT id+4,a,b,c,j,f,d,t,n,l,bin FROM {db}.a`, `INSERT INTO {db}.a SELECT id+8,a,b,c,j,f,d,t,n,l,bin FROM {db}.a`);
    await scene.register("a");
    const changes: [number, string, string][] = [
      [1, "a='x', b='0y'", "a,b"], [2, "a=NULL", "a"], [3, "a='x0 '", "a"], [4, "c='A'", "c"], [5, "j=JSON_SET(j,'$.m[1]',3)", "j"], [6, "f=f+1.2e-7", "f"],
      [7, "d=1.5000000000000002", "d"], [8, "t=t + INTERVAL 1 HOUR", "t"], [9, "n=1.11", "n"], [10, "l='Ä'", "l"], [11, "bin=x'0000'", "bin"], [12, "bin=x''", "bin"], [13, "t=NULL", "t"],
    ];
    for (const [id, change] of changes) await scene.target(`UPDATE {db}.a SET ${change} WHERE id=${id}`);
    await scene.source("UPDATE {db}.a SET a='' WHERE id=14");
    await scene.target("UPDATE {db}.a SET a=NULL WHERE id=14");
    const report = await scene.diff({ maxSamples: 100 });
    expect(report.tables[0]).toMatchObject({ rowsCompared: 16, mismatched: 14, missingOnTarget: 0, extraOnTarget: 0 });
    const found = Object.fromEntries((report.tables[0]?.samples ?? []).map((s) => [s.key["id"], s.columns.join(",")]));
    expect(found).toEqual({ ...Object.fromEntries(changes.map(([id, , columns]) => [String(id), columns])), "14": "a" });
    expect(report.tables[0]?.notes?.join()).toContain("JSON");
  });

  it("orders and matches keys by their collation: one row whose key differs in case is one mismatch", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx, { tuning: { firstRows: 3, leafRows: 2 } });
    await scene.both("CREATE TABLE {db}.a (k VARCHAR(20) COLLATE utf8mb4_0900_ai_ci, n BIGINT UNSIGNED, v INT, PRIMARY KEY (k, n))",
      "INSERT INTO {db}.a VALUES ('a',1,1),('B',18446744073709551615,2),('c',9223372036854775808,3),('D ',4,4),('é',5,5),('f',6,6),('g',7,7)");
    await scene.register("a");
    await scene.target("UPDATE {db}.a SET k='A' WHERE k='a'");
    await scene.target("UPDATE {db}.a SET k='E' WHERE k='é'");
    await scene.target("UPDATE {db}.a SET v=9 WHERE n=18446744073709551615");
    const report = await scene.diff();
    expect(report.tables[0]).toMatchObject({ rowsCompared: 7, matching: 4, mismatched: 3, missingOnTarget: 0, extraOnTarget: 0 });
    expect(report.tables[0]?.samples.map((s) => [s.key, s.columns])).toEqual(expect.arrayContaining([
      [{ k: "a", n: "1" }, ["k"]], [{ k: "é", n: "5" }, ["k"]], [{ k: "B", n: "18446744073709551615" }, ["v"]],
    ]));
  });

  it("reuses the copy's chunk bounds, walks on behind them, and does without them when the key's order has changed", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx, { tuning: { firstRows: 250, leafRows: 50 } });
    await scene.both("CREATE TABLE {db}.a (id VARCHAR(20) PRIMARY KEY, v VARCHAR(20))", `INSERT INTO {db}.a ${NUMBERS} SELECT LPAD(i, 6, '0'), 'v' FROM n`);
    await scene.register("a");
    const key = (i: number) => textRow([Buffer.from(String(i).padStart(6, "0"))]);
    const bounds = async (rows: number, ranges: [number | null, number][]) => {
      const { chunks } = scene.context.state;
      await scene.onTarget(async (session) => {
        await chunks.removeAll(session, "m");
        await chunks.add(session, "m", 1, 1, ranges.map(([from, to]) => ({ lower: from === null ? null : key(from), upper: key(to) })));
        await session.run(`UPDATE ${ctx.stateSchema}.chunks SET state='done', row_count=${rows}, byte_count=1000` as ByteSql);
      });
    };
    const cut = async (diffId: string) => (await ctx.target.query(`SELECT upper_key, rows_planned AS n FROM ${ctx.stateSchema}.diff_chunks WHERE diff='${diffId}' ORDER BY number`)).map((row) => [String((row["upper_key"] as Buffer | null) ?? "").slice(1), Number(row["n"])]);
    // The chunk from 300 to 400 was the rest of another one, so it has the last number.
    await bounds(100, [[null, 100], [100, 200], [200, 300], [400, 500], [300, 400]]);
    const reused = await scene.diff();
    expect(reused.tables[0]).toMatchObject({ rowsCompared: 1000, matching: 1000 });
    expect(await cut(reused.diffId)).toEqual([["000200", 200], ["000400", 200], ["000500", 100], ["000750", 250], ["001000", 250], ["", 1]]);
    await bounds(300, [[null, 500], [500, 100], [100, 900]]);
    const walked = await scene.diff();
    expect(walked.tables[0]).toMatchObject({ rowsCompared: 1000, matching: 1000 });
    expect((await cut(walked.diffId)).map(([upper]) => upper)).toEqual(["000250", "000500", "000750", "001000", ""]);
  });

  it("bounds samples, limits rows exactly, takes filters and table names", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx, { tuning: { firstRows: 100, leafRows: 50 }, where: { b: "id % 2 = 0 -- even ones" } });
    await scene.both("CREATE TABLE {db}.a (id INT PRIMARY KEY, v VARCHAR(20))", `INSERT INTO {db}.a ${NUMBERS} SELECT i, 'ü' FROM n`, "CREATE TABLE {db}.b LIKE {db}.a", "INSERT INTO {db}.b SELECT * FROM {db}.a");
    await scene.register("a", "b");
    await scene.target("UPDATE {db}.a SET v='w' WHERE id <= 500");
    await scene.target("DELETE FROM {db}.b WHERE id % 2 = 1");
    const samples = await scene.diff({ maxSamples: 3, tables: [`${ctx.schema}.a`] });
    expect(samples.tables.map((t) => [t.mismatched, t.samples.length])).toEqual([[500, 3]]);
    const limited = await scene.diff({ maxRows: 250 });
    expect(limited.tables.map((t) => t.rowsCompared)).toEqual([250, 0]);
    expect(limited.tables[0]?.mismatched).toBe(250);
    const filtered = await scene.diff({ where: "v = 'ü' AND id > 500" });
    expect(filtered).toMatchObject({ state: "completed", hasMismatch: false });
    expect(filtered.tables.map((t) => t.rowsCompared)).toEqual([500, 250]);
    const keys = await scene.diff({ onlyKeys: true, tables: [`${ctx.schema}.a`], maxSamples: 2 });
    expect(keys.tables[0]?.samples.map((s) => s.columns)).toEqual([[], []]);
  });
});
