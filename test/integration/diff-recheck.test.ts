/** The diff and its repair while rows change: no false difference (case 14), every real one, and no newer row overwritten. */
import { describe, expect, it } from "vitest";
import type { RowDataPacket } from "mysql2/promise";
import { readRepairReport } from "../../src/shared/state/diff-repair-report.js";
import { requestRepair } from "../../src/workers/diff/commands.js";
import { testContext } from "../support/context.js";
import { FakeFollow } from "./diff-follow.js";
import { DiffScene } from "./diff-scene.js";

const NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<1000)";

async function shop(scene: DiffScene): Promise<void> {
  await scene.both("CREATE TABLE {db}.a (id INT PRIMARY KEY, v VARCHAR(40), n INT NOT NULL DEFAULT 0, u INT NULL, UNIQUE KEY u (u))", `INSERT INTO {db}.a ${NUMBERS} SELECT i*10, CONCAT('v', i), 0, i FROM n`);
  await scene.register("a");
}

/** Updates, toggles, inserts and deletes on few rows, so that every chunk is hot. */
function writes(i: number): string {
  const id = ((i * 7919) % 1000) * 10 + 10;
  if (i % 10 === 7) return `DELETE FROM {db}.a WHERE id=${id + 5}`;
  if (i % 10 === 8) return `INSERT INTO {db}.a VALUES (${id + 5},'new',${i},NULL) ON DUPLICATE KEY UPDATE n=${i}`;
  if (i % 10 === 9) return `UPDATE {db}.a SET v=IF(v='x','y','x') WHERE id=${id}`;
  return `UPDATE {db}.a SET n=${i} WHERE id=${id}`;
}

describe("diff of tables that are written to", () => {
  it("reports no difference under constant writes on the compared rows (case 14)", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx, { mode: "copy+follow", tuning: { firstRows: 200, leafRows: 50 } });
    await shop(scene);
    await using follow = await FakeFollow.start(scene, { lag: 80, perSecond: 300, statement: writes });
    for (let round = 0; round < 4; round++) {
      const report = await scene.diff();
      expect(report.lastError).toBeNull();
      expect(report.tables[0]).toMatchObject({ state: "completed", mismatched: 0, missingOnTarget: 0, extraOnTarget: 0 });
      expect(report.tables[0]?.inconclusive).toBeLessThan(3);
    }
    expect(follow.written).toBeGreaterThan(100);
  });

  it("finds real differences among changing rows, repairs them under the fence, and the next diff is clean", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx, { mode: "copy+follow", tuning: { firstRows: 200, leafRows: 50 } });
    await shop(scene);
    // a value, a missing row, an extra row, and two rows whose unique values are swapped
    await scene.target("UPDATE {db}.a SET v='wrong' WHERE id=20");
    await scene.target("DELETE FROM {db}.a WHERE id IN (30, 40)");
    await scene.target("INSERT INTO {db}.a VALUES (99999,'extra',0,NULL), (99998,'takes',0,3)");
    await scene.target("UPDATE {db}.a SET u=NULL WHERE id IN (50, 60)");
    await scene.target("UPDATE {db}.a SET u=IF(id=50,6,5) WHERE id IN (50, 60)");
    // rows 10 to 60 and the extra ones stay as they are
    const statement = (i: number) => writes(i).replace(/id=(10|20|30|40|50|60)$/, "id=500").replace(/VALUES \((15|25|35|45|55|65),/, "VALUES (505,");
    const follow = await FakeFollow.start(scene, { lag: 80, perSecond: 300, statement });
    const report = await scene.diff({ maxSamples: 50 });
    expect(report.tables[0]).toMatchObject({ mismatched: 3, missingOnTarget: 2, extraOnTarget: 2 });
    expect(report.tables[0]?.samples.filter((s) => s.kind !== "inconclusive").map((s) => `${s.kind} ${s.key["id"]} ${s.columns.join()}`).sort()).toEqual([
      "extraOnTarget 99998 ", "extraOnTarget 99999 ", "mismatched 20 v", "mismatched 50 u", "mismatched 60 u", "missingOnTarget 30 ", "missingOnTarget 40 ",
    ]);

    await requestRepair(scene.context, scene.ref, report.diffId, true, scene.ending.signal);
    await scene.repair(report.diffId);
    const plan = await scene.onTarget((session) => readRepairReport(session, ctx.stateSchema, "m", report.diffId));
    expect(plan).toMatchObject({ dryRun: true, state: "completed", repaired: 0 });
    expect(plan?.actions.map((a) => `${a.action} ${a.key["id"]}`).sort()).toEqual(["delete 99998", "delete 99999", "replace 20", "replace 30", "replace 40", "replace 50", "replace 60"]);
    expect(plan?.actions[0]?.statement).not.toContain("v1");

    await requestRepair(scene.context, scene.ref, report.diffId, false, scene.ending.signal);
    await scene.repair(report.diffId);
    const done = await scene.onTarget((session) => readRepairReport(session, ctx.stateSchema, "m", report.diffId));
    expect(done).toMatchObject({ state: "completed", refused: 0, inconclusive: 0, error: null });
    expect((done?.repaired ?? 0) + (done?.equal ?? 0)).toBe(7);
    expect((await scene.diff()).hasMismatch).toBe(false);
    await follow.end();
    const checksum = "SELECT COUNT(*) AS n, BIT_XOR(CRC32(CONCAT_WS('#',id,v,n,IFNULL(u,'-')))) AS c FROM";
    expect(await ctx.target.query<RowDataPacket[]>(`${checksum} ${ctx.schema}.a`)).toEqual(await ctx.source.query<RowDataPacket[]>(`${checksum} ${ctx.schema}.a`));
  });

  // What a REPLACE pushes out of a unique index is another row of the target: not to be lost where the diff has not seen it.
  const found = ["u (v)"];
  const refused = ["u (v(3))", "u ((LEFT(v, 3)))", "u ((UPPER(v)))", "u ((CAST(j->'$.tags' AS UNSIGNED ARRAY)))", "u (g)"];
  for (const index of [...found, ...refused])
    it(`a row that a repaired one would push out of UNIQUE KEY ${index} is repaired along, or the repair is refused until a diff has seen it`, async () => {
      await using ctx = await testContext();
      await using scene = new DiffScene(ctx);
      await scene.both(
        `CREATE TABLE {db}.a (id INT, part VARCHAR(10), v VARCHAR(40), j JSON, g VARCHAR(3) AS (LEFT(v, 3)) VIRTUAL, note INT, PRIMARY KEY (part, id), UNIQUE KEY ${index})`,
        `INSERT INTO {db}.a (id, part, v, j, note) VALUES (1,'x','aaa1','{"tags":[1,2]}',1), (2,'y','bbb2','{"tags":[3]}',2), (3,'x','ccc3','{"tags":[4]}',3), (4,'y','ddd4','{"tags":[5]}',4)`,
      );
      await scene.register("a");
      await scene.target("DELETE FROM {db}.a WHERE id IN (1, 3)");
      const { diffId } = await scene.diff();
      // After the diff: two rows take the unique values of those that are missing, and one of them gave way to a third.
      await scene.target(`UPDATE {db}.a SET v='aaa1', j='{"tags":[2]}' WHERE id=2`);
      await scene.target(`UPDATE {db}.a SET v='ccc3', j='{"tags":[4]}' WHERE id=4`);
      await scene.target(`INSERT INTO {db}.a (id, part, v, j, note) VALUES (5,'z','bbb2','{"tags":[3]}',9)`);
      const rowsOf = (side: "source" | "target") => ctx[side].query<RowDataPacket[]>(`SELECT id, part, v, j, note FROM ${ctx.schema}.a ORDER BY id`);
      const repair = async (id: string) => {
        await requestRepair(scene.context, scene.ref, id, false, scene.ending.signal);
        await scene.repair(id);
        return await scene.onTarget((session) => readRepairReport(session, ctx.stateSchema, "m", id));
      };
      const before = await rowsOf("target");
      if (found.includes(index)) expect(await repair(diffId)).toMatchObject({ state: "completed", repaired: 2, refused: 0, error: null });
      else {
        expect(await repair(diffId)).toMatchObject({ state: "failed", repaired: 0, refused: 2, error: { code: "ROW_REFUSED", message: expect.stringContaining("compare again") } });
        expect(await rowsOf("target")).toEqual(before);
        expect(await repair((await scene.diff()).diffId)).toMatchObject({ state: "completed", refused: 0, error: null });
      }
      expect(await rowsOf("target")).toEqual(await rowsOf("source"));
    });

  it("waits while tables are copied again, without counting it against a chunk", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx, { mode: "copy+follow" });
    await shop(scene);
    await scene.target("DELETE FROM {db}.a WHERE id=10");
    const diffId = await scene.start({ maxAttempts: 1 });
    const phase = (to: string) => ctx.target.query(`UPDATE ${ctx.stateSchema}.migrations SET phase='${to}'`);
    await phase("copying");
    const work = scene.work(diffId);
    await expect.poll(async () => (await scene.report(diffId)).lastError?.message, { timeout: 10_000 }).toContain("copying again");
    await scene.target("INSERT INTO {db}.a VALUES (10,'v1',0,1)");
    await phase("streaming");
    expect(await work).toMatchObject({ state: "completed", hasMismatch: false });
  });

  it("repairs more rows than are stored", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx, { tuning: { leafRows: 50, storedRows: 5, repairRows: 20 } });
    await shop(scene);
    await scene.target("UPDATE {db}.a SET v='wrong' WHERE id <= 900");
    await scene.target("DELETE FROM {db}.a WHERE id > 9000");
    const report = await scene.diff({ maxSamples: 2 });
    expect(report.tables[0]).toMatchObject({ mismatched: 90, missingOnTarget: 100 });
    expect(report.tables[0]?.samples).toHaveLength(2);
    await requestRepair(scene.context, scene.ref, report.diffId, false, scene.ending.signal);
    await scene.repair(report.diffId);
    expect(await scene.onTarget((session) => readRepairReport(session, ctx.stateSchema, "m", report.diffId))).toMatchObject({ state: "completed", repaired: 190 });
    expect((await scene.diff()).hasMismatch).toBe(false);
  });

  it("calls nothing different that may only be late: a paused migration's rows are inconclusive", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx, { mode: "copy+follow", phase: "paused" });
    await shop(scene);
    await scene.source("UPDATE {db}.a SET v='newer' WHERE id=10");
    expect((await scene.diff()).tables[0]).toMatchObject({ mismatched: 0, inconclusive: 1, matching: 999 });
    // Far ahead: other tests commit on the same source meanwhile.
    const [source] = await ctx.source.query("SELECT @@GLOBAL.server_uuid AS uuid");
    await scene.moveFence(`${String(source?.["uuid"])}:1-4000000000`);
    expect((await scene.diff()).tables[0]).toMatchObject({ mismatched: 1, inconclusive: 0 });
  });
});
