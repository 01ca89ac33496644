/** Options of a diff, each on real servers: limits, kindness to the source, `last`, schedules. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { DroverClient } from "../../src/producers/index.js";
import { loadConfig } from "../../src/shared/config.js";
import { createLogger } from "../../src/shared/logger.js";
import { runWorker } from "../../src/workers/index.js";
import { cutoverOptions } from "../../src/shared/contracts/cutover.js";
import { diffOptions } from "../../src/shared/contracts/diff.js";
import { DroverError } from "../../src/shared/errors.js";
import type { Cutover } from "../../src/shared/state/cutovers.js";
import { DiffScheduleStore } from "../../src/shared/state/diff-schedules.js";
import { requestRepair, stopDiff } from "../../src/workers/diff/commands.js";
import { startScheduledDiff } from "../../src/workers/diff/index.js";
import type { Hooks } from "../../src/workers/hooks.js";
import { testContext, type TestContext } from "../support/context.js";
import { DiffScene } from "./diff-scene.js";

const NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<1000)";

async function oneTable(scene: DiffScene): Promise<void> {
  await scene.both("CREATE TABLE {db}.a (id INT PRIMARY KEY, v VARCHAR(40))", `INSERT INTO {db}.a ${NUMBERS} SELECT i, CONCAT('v', i) FROM n`);
  await scene.register("a");
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const began = Date.now();
  await work();
  return Date.now() - began;
}

describe("options of a diff", () => {
  it("limits rows exactly also behind a filter that leaves few, and ends where it leaves none", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx, { tuning: { firstRows: 100, leafRows: 20 } });
    await oneTable(scene);
    await scene.target("UPDATE {db}.a SET v='w' WHERE id IN (10, 300, 310)");
    const limited = await scene.diff({ where: "id % 10 = 0", maxRows: 30 });
    expect(limited.tables[0]).toMatchObject({ state: "completed", rowsCompared: 30, mismatched: 2, inconclusive: 0 });
    expect(await scene.diff({ where: "id < 0" })).toMatchObject({ state: "completed", hasMismatch: false });
    expect((await scene.diff({ where: "id % 10 = 0" })).tables[0]).toMatchObject({ rowsCompared: 100, mismatched: 3 });
  });

  it("compares in parts what takes the source too long, and finds the same", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx, { tuning: { firstRows: 1_000, leafRows: 200, statementTime: 50, statementLimit: 80 } });
    await oneTable(scene);
    await scene.target("UPDATE {db}.a SET v='w' WHERE id IN (10, 900)");
    await scene.target("DELETE FROM {db}.a WHERE id=500");
    // About half a millisecond a row.
    const report = await scene.diff({ where: "BENCHMARK(1000, SHA2(v, 256)) = 0" });
    expect(report).toMatchObject({ state: "completed", lastError: null });
    expect(report.tables[0]).toMatchObject({ rowsCompared: 1000, matching: 997, mismatched: 2, missingOnTarget: 1, extraOnTarget: 0, inconclusive: 0 });
    const failures = await ctx.target.query(`SELECT attempts FROM ${ctx.stateSchema}.diff_chunks WHERE attempts > 0`);
    expect(failures).toEqual([]);
  });

  it("holds back while more threads run on the source than allowed", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx, { tuning: { loadPatience: 3_000 } });
    await oneTable(scene);
    const busy = await ctx.source.connect();
    const asleep = busy.query("SELECT SLEEP(2)");
    await sleep(100);
    expect(await milliseconds(() => scene.diff({ maxThreadsRunning: 1 }))).toBeGreaterThan(1_500);
    await asleep;
  });

  it("holds back while a replica does not follow, but not for ever; its name must be known", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx, { tuning: { loadPatience: 1_500 } });
    await oneTable(scene);
    // The target is no replica: its lag is unknown, and so without a limit.
    let report;
    expect(await milliseconds(async () => (report = await scene.diff({ replica: "DST" })))).toBeGreaterThan(1_400);
    expect(report).toMatchObject({ state: "completed", hasMismatch: false });
    await expect(scene.start({ replica: "NOWHERE" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });
});

describe("a table without a key", () => {
  it("with more different rows than are counted: inconclusive when unequal, never a guess", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx, { tuning: { wholeRows: 5 } });
    await scene.both("CREATE TABLE {db}.a (v INT)", "INSERT INTO {db}.a VALUES (1),(2),(3),(4),(5),(6),(6)");
    await scene.register("a");
    expect((await scene.diff({})).tables[0]).toMatchObject({ matching: 7, inconclusive: 0 });
    await scene.target("UPDATE {db}.a SET v=9 WHERE v=1");
    expect(await scene.diff({})).toMatchObject({ state: "completed", hasMismatch: false, tables: [{ matching: 0, missingOnTarget: 0, extraOnTarget: 0, inconclusive: 5 }] });
    await scene.both("DELETE FROM {db}.a WHERE v>3");
    expect((await scene.diff({})).tables[0]).toMatchObject({ matching: 2, missingOnTarget: 1, extraOnTarget: 0, inconclusive: 0 });
  });
});

/** What `stop` of a cut-over does. */
async function release(scene: DiffScene): Promise<void> {
  const { cutovers, fence } = scene.context.state;
  await scene.context.connections.transaction("DST", "target", scene.ending.signal, async (session) => {
    const { facts } = (await cutovers.read(session, "m")) as Cutover;
    await fence.require(session, "m", "update");
    await cutovers.advance(session, "m", "catch-up", "objects", { ...facts, stopped: true });
  });
}

describe("when a migration is cut over", () => {
  it("a repair under way writes nothing behind the stop, no other one begins, and a schedule's turns are left out", async () => {
    await using ctx = await testContext();
    let isLate = true;
    const hooks: Hooks = { at: async (point) => { if (point === "diff:before-repair" && isLate) await release(scene); } };
    await using scene = new DiffScene(ctx, { hooks });
    await oneTable(scene);
    const { signal } = scene.ending;
    await scene.target("UPDATE {db}.a SET v='the application' WHERE id=5");
    const { diffId } = await scene.diff();
    await scene.onTarget((session) => scene.context.state.cutovers.begin(session, "m", cutoverOptions.parse({}), []));
    await requestRepair(scene.context, scene.ref, diffId, false, signal);
    await expect(scene.engine.repair(scene.ref, diffId, signal)).rejects.toMatchObject({ code: "WRONG_PHASE" });
    expect(await ctx.target.query(`SELECT v FROM ${ctx.schema}.a WHERE id=5`)).toEqual([{ v: "the application" }]);
    await stopDiff(scene.context, scene.ref, diffId, signal);
    isLate = false;
    await expect(requestRepair(scene.context, scene.ref, diffId, false, signal)).rejects.toMatchObject({ code: "WRONG_PHASE" });
    await scene.onTarget((session) => new DiffScheduleStore(ctx.stateSchema).put(session, "m", "DST", { name: "often", every: 60_000, keep: 2, options: diffOptions.parse({}) }));
    expect(await startScheduledDiff(scene.context, scene.ref, "often", signal)).toEqual({ kind: "skipped", reason: "the migration was cut over" });
  });
});

describe("a schedule of diffs", () => {
  it("makes the diff of a turn that an error had cut short", async () => {
    await using ctx = await testContext();
    let failures = 1;
    const hooks: Hooks = { at: async (point) => { if (point === "diff:before-turn" && failures-- > 0) throw new DroverError("CONNECTION_LOST", "planted"); } };
    await using scene = new DiffScene(ctx, { hooks });
    await oneTable(scene);
    const schedules = new DiffScheduleStore(ctx.stateSchema);
    await scene.onTarget((session) => schedules.put(session, "m", "DST", { name: "daily", every: 86_400_000, keep: 2, options: diffOptions.parse({}) }));
    const turn = () => startScheduledDiff(scene.context, scene.ref, "daily", scene.ending.signal);
    await expect(turn()).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    const recorded = (await scene.onTarget((session) => schedules.read(session, "m", "daily")))?.lastDiffId;
    expect(await turn()).toEqual({ kind: "started", diffId: recorded });
    expect(await turn()).toEqual({ kind: "skipped", reason: `diff ${recorded} is still at work` });
  });

  const diffs = async (ctx: TestContext) => (await ctx.target.query(`SELECT diff, state FROM ${ctx.stateSchema}.diffs ORDER BY started_at`)).map((row) => `${String(row["diff"])} ${String(row["state"])}`);

  it("starts diffs until it is ended, keeps the newest, and survives an emptied Redis", async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx);
    await oneTable(scene);
    await scene.target("DELETE FROM {db}.a WHERE id=7");
    const config = loadConfig(ctx.env);
    const worker = await runWorker({ config, log: createLogger(process.env["DROVER_LOG_LEVEL"] ?? "silent") });
    const client = new DroverClient({ config });
    try {
      const schedule = await client.scheduleDiff("m", { name: "often", every: 1_500, keep: 2, options: { maxSamples: 1 } });
      expect(schedule).toMatchObject({ id: "m", name: "often", every: 1_500, keep: 2, options: { maxSamples: 1 } });
      await expect(client.scheduleDiff("m", { every: 1_500, options: { tables: ["no.table"] } })).rejects.toMatchObject({ code: "NOT_FOUND" });
      const seen = new Set<string>();
      const turns = async (count: number) => {
        for (const until = Date.now() + 40_000; seen.size < count && Date.now() < until; await sleep(50)) for (const diff of await diffs(ctx)) seen.add(diff.split(" ")[0] as string);
        expect(seen.size).toBeGreaterThanOrEqual(count);
      };
      await turns(4);
      expect([...seen].every((name) => /^often-\d{14}$/.test(name))).toBe(true);
      // The newest two that have ended, and perhaps one at work.
      expect((await diffs(ctx)).length).toBeLessThanOrEqual(3);
      const keys = await ctx.redis.keys(`${ctx.prefix}*`);
      await ctx.redis.unlink(keys);
      await turns(seen.size + 2);
      expect(await client.listDiffSchedules("m")).toMatchObject([{ name: "often", lastDiffId: [...seen].at(-1) }]);
      await client.unscheduleDiff("m", "often");
      expect(await client.listDiffSchedules("m")).toEqual([]);
      await expect(client.unscheduleDiff("m", "often")).rejects.toMatchObject({ code: "NOT_FOUND" });
      const last = await client.showDiff("m");
      await client.waitForDiff("m", last.diffId, { timeout: 20_000 });
      await sleep(2_500);
      expect((await client.showDiff("m")).diffId).toBe(last.diffId);
      // `last` is the newest, in every command.
      expect(await client.repairDiff("m", "last", { timeout: 30_000 })).toMatchObject({ diffId: last.diffId, repaired: 1 });
      expect(await client.deleteDiff("m", "last")).toMatchObject({ id: "m", diffId: last.diffId, state: "completed" });
      await expect(client.stopDiff("m", last.diffId)).rejects.toMatchObject({ code: "NOT_FOUND" });
    } finally {
      await client.close();
      await worker.close();
    }
  }, 120_000);
});
