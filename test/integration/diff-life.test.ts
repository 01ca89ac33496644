/** The life of a diff in a worker: it ends by itself, goes on after whatever interrupted it, and leaves nothing running. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { DroverError } from "../../src/shared/errors.js";
import type { DiffReport } from "../../src/shared/contracts/diff.js";
import type { Hooks } from "../../src/workers/hooks.js";
import { deleteDiff, resumeDiff, stopDiff } from "../../src/workers/diff/index.js";
import { testContext, type TestContext } from "../support/context.js";
import { DiffScene } from "./diff-scene.js";
import { DiffWorker } from "./diff-worker.js";

const NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<1000)";
const SMALL = { firstRows: 20, maxRows: 20, leafRows: 10 };

async function twoTables(scene: DiffScene): Promise<void> {
  await scene.both("CREATE TABLE {db}.a (id INT PRIMARY KEY, v VARCHAR(40))", `INSERT INTO {db}.a ${NUMBERS} SELECT i, CONCAT('v', i) FROM n`, "CREATE TABLE {db}.b LIKE {db}.a", "INSERT INTO {db}.b SELECT * FROM {db}.a");
  await scene.register("a", "b");
  await scene.target("UPDATE {db}.a SET v='wrong' WHERE id IN (7, 777)");
}

async function ended(scene: DiffScene, diffId: string, within = 30_000): Promise<DiffReport> {
  for (const until = Date.now() + within; ; await sleep(50)) {
    const report = await scene.report(diffId).catch(() => null);
    if (report && report.state !== "pending" && report.state !== "running") return report;
    if (Date.now() > until) throw new Error(`the diff is still ${report?.state}: ${JSON.stringify(report)}`);
  }
}

function expectResult(report: DiffReport): void {
  expect(report).toMatchObject({ state: "completed", hasMismatch: true });
  expect(report.tables.map((t) => [t.rowsCompared, t.matching, t.mismatched, t.missingOnTarget, t.extraOnTarget, t.inconclusive])).toEqual([[1000, 998, 2, 0, 0, 0], [1000, 1000, 0, 0, 0, 0]]);
}

/** Chunks take a moment, so that a test can act in the middle. */
const slow = (milliseconds: number): Hooks => ({ at: async (point) => void (point === "diff:before-record" && (await sleep(milliseconds))) });

async function reached(scene: DiffScene, diffId: string, rows: number): Promise<void> {
  for (const until = Date.now() + 20_000; Date.now() < until; await sleep(20)) {
    const report = await scene.report(diffId);
    if (report.tables.reduce((sum, t) => sum + t.rowsCompared, 0) >= rows) return;
  }
  throw new Error("the diff does not get there");
}

async function jobsLeft(ctx: TestContext): Promise<number> {
  return (await ctx.redis.keys(`${ctx.prefix}:diff:diff.*`)).length;
}

describe("a diff in a worker", () => {
  it("runs to its end over many chunks, with a bounded window of jobs", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx);
    await twoTables(scene);
    await using worker = new DiffWorker(scene, { tuning: SMALL });
    const diffId = await scene.start();
    expectResult(await ended(scene, diffId));
    await sleep(200);
    expect(await jobsLeft(ctx)).toBe(0);
    void worker;
  });

  it("goes on where it was stopped, and counts no row twice (case 15)", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx);
    await twoTables(scene);
    await using worker = new DiffWorker(scene, { tuning: SMALL, hooks: slow(20) });
    const diffId = await scene.start();
    for (const rows of [200, 700, 1300]) {
      await reached(scene, diffId, rows);
      await stopDiff(scene.context, scene.ref, diffId, scene.ending.signal);
      const stopped = await scene.report(diffId);
      expect(stopped.state).toBe("stopped");
      await sleep(1_500);
      // What was under way when it was stopped is not recorded.
      expect((await scene.report(diffId)).tables).toEqual(stopped.tables);
      await resumeDiff(scene.context, scene.ref, diffId, scene.ending.signal);
    }
    const report = await ended(scene, diffId);
    expectResult(report);
    expect(report.attempts).toBe(4);
    void worker;
  });

  it("goes on in another worker, and after Redis was emptied", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx);
    await twoTables(scene);
    const diffId = await scene.start();
    {
      await using first = new DiffWorker(scene, { tuning: SMALL, hooks: slow(20) });
      await reached(scene, diffId, 300);
      void first;
    }
    await using second = new DiffWorker(scene, { tuning: SMALL, hooks: slow(20) });
    await reached(scene, diffId, 800);
    const keys = await ctx.redis.keys(`${ctx.prefix}*`);
    if (keys.length > 0) await ctx.redis.unlink(keys);
    const report = await ended(scene, diffId);
    expect(report.state).toBe("completed");
    expectResult(report);
    void second;
  });

  it("ends at its maxDuration, and goes on when it is resumed", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx);
    await twoTables(scene);
    await using worker = new DiffWorker(scene, { tuning: SMALL, hooks: slow(100) });
    const diffId = await scene.start({ maxDuration: 1_500 });
    const report = await ended(scene, diffId);
    expect(report).toMatchObject({ state: "stopped", lastError: { code: "ABORTED" } });
    expect(report.lastError?.message).toContain("1500 ms");
    await resumeDiff(scene.context, scene.ref, diffId, scene.ending.signal);
    await ended(scene, diffId);
    void worker;
  });

  for (const [how, end] of [["deleted", deleteDiff], ["stopped", stopDiff]] as const)
    it(`leaves nothing running when it is ${how} (case 16)`, async () => {
      await using ctx = await testContext();
      await using scene = new DiffScene(ctx);
      await twoTables(scene);
      let records = 0;
      const slowly = slow(50);
      const hooks: Hooks = {
        at: async (point, detail) => {
          if (point === "diff:before-record") records += 1;
          await slowly.at(point, detail);
        },
      };
      await using worker = new DiffWorker(scene, { tuning: SMALL, hooks });
      const diffId = await scene.start();
      await reached(scene, diffId, 200);
      // Its jobs and sessions can be seen, so their absence says something.
      expect(await jobsLeft(ctx)).toBeGreaterThan(0);
      await end(scene.context, scene.ref, diffId, scene.ending.signal);
      const kept = how === "stopped" ? await scene.report(diffId) : null;
      await expect.poll(() => jobsLeft(ctx), { timeout: 5_000 }).toBe(0);
      for (const side of [ctx.source, ctx.target]) await expect.poll(async () => (await side.sessions()).filter((s) => !s.text.startsWith("Sleep")), { timeout: 5_000 }).toEqual([]);
      // And nothing begins again.
      const then = records;
      await sleep(2_500);
      expect(records).toBe(then);
      expect(await jobsLeft(ctx)).toBe(0);
      if (kept === null) for (const table of ["diffs", "diff_tables", "diff_chunks", "diff_rows"]) expect(await ctx.target.query(`SELECT 1 FROM ${ctx.stateSchema}.${table}`)).toEqual([]);
      else {
        expect(kept).toMatchObject({ state: "stopped" });
        expect(await scene.report(diffId)).toMatchObject({ state: "stopped", tables: kept.tables });
      }
      void worker;
    });

  it("ends failed with the error of a poison chunk, after the others have finished; resume tries it again", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx);
    await twoTables(scene);
    let poisoned = true;
    const hooks: Hooks = {
      at: async (point, detail) => {
        if (point === "diff:before-record" && poisoned && detail["table"] === 2 && detail["chunk"] === 3) throw new DroverError("SERVER_BUSY", "this chunk never works", { errno: 1213 });
      },
    };
    await using worker = new DiffWorker(scene, { tuning: SMALL, hooks });
    const diffId = await scene.start({ maxAttempts: 3 });
    const report = await ended(scene, diffId);
    expect(report).toMatchObject({ state: "failed", lastError: { code: "POISON", errno: 1213 } });
    expect(report.lastError?.message).toContain("this chunk never works");
    expect(report.tables.map((t) => [t.state, t.rowsCompared])).toEqual([["completed", 1000], ["failed", 980]]);
    poisoned = false;
    await resumeDiff(scene.context, scene.ref, diffId, scene.ending.signal);
    expectResult(await ended(scene, diffId));
    void worker;
  });
});
