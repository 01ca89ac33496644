/**
 * The invariants of docs/protocol.md on real servers, engine by engine: what is read under one fence is not written under
 * another (I1, I3), and a batch is applied once and in order (I2).
 */
import { expect, test } from "vitest";
import { encodeBatch } from "../../src/shared/backlog/batch.js";
import { BacklogChain } from "../../src/shared/backlog/chain.js";
import { textRow } from "../../src/shared/columns/text-row.js";
import { loadConfig } from "../../src/shared/config.js";
import { createLogger } from "../../src/shared/logger.js";
import { Connections } from "../../src/shared/mysql/connections.js";
import { State } from "../../src/shared/state/state.js";
import type { MigrationSpecInput } from "../../src/producers/index.js";
import { runApplier } from "../../src/workers/apply/applier.js";
import type { EngineContext, MigrationRef } from "../../src/workers/context.js";
import { advanceMigration } from "../../src/workers/control/advance.js";
import { pauseMigration, resumeMigration, startMigration } from "../../src/workers/control/commands.js";
import { ChunkCopier } from "../../src/workers/copy/chunk-copier.js";
import { noHooks, type HookPoint, type Hooks } from "../../src/workers/hooks.js";
import { planTable } from "../../src/workers/planner/plan-table.js";
import { testContext, type TestContext } from "../support/context.js";

const signal = new AbortController().signal;
const REF: MigrationRef = { migration: "m", target: "DST" };

/** A migration of one table of five rows in one chunk, planned and not copied. */
async function planned(ctx: TestContext, hooks: Hooks, options: MigrationSpecInput["options"] = {}): Promise<EngineContext & AsyncDisposable> {
  await ctx.source.query(`CREATE TABLE ${ctx.schema}.t (id INT PRIMARY KEY, v VARCHAR(10)); INSERT INTO ${ctx.schema}.t VALUES (1,'a'),(2,'b'),(3,'c'),(4,'d'),(5,'e')`);
  const config = loadConfig(ctx.env);
  const connections = new Connections({ config, worker: "w-test" });
  const context: EngineContext = { config, connections, state: new State(config.stateSchema), log: createLogger("silent"), worker: "w-test", hooks };
  await startMigration(context, { id: "m", source: "SRC", target: "DST", tables: [{ schema: ctx.schema }], options }, signal);
  await advanceMigration(context, REF, signal);
  await planTable(context, REF, 1, signal);
  return { ...context, [Symbol.asyncDispose]: () => Promise.resolve(connections.close()) };
}

/** Hooks that do something once, at one point. */
function once(point: HookPoint, action: () => Promise<void>): Hooks {
  let done = false;
  return {
    at: async (at) => {
      if (at !== point || done) return;
      done = true;
      await action();
    },
  };
}

async function targetRows(ctx: TestContext): Promise<string> {
  const rows = await ctx.target.query(`SELECT id, v FROM ${ctx.schema}.t ORDER BY id`);
  return rows.map((row) => `${String(row["id"])}${String(row["v"])}`).join(" ");
}

test("I1: a chunk read before the fence moved is not written after it", async () => {
  await using ctx = await testContext();
  const hooks = once("chunk:after-read", async () => {
    await ctx.source.query(`UPDATE ${ctx.schema}.t SET v='new' WHERE id=3`);
    // What an applier does when it has applied that update, and the row as it would write it.
    await ctx.target.query(`UPDATE ${ctx.stateSchema}.fence SET seq=seq+1; REPLACE INTO ${ctx.schema}.t VALUES (3,'new')`);
  });
  await using context = await planned(ctx, hooks);
  const copier = new ChunkCopier(context);
  await expect(copier.copy(REF, 1, 1, signal)).rejects.toMatchObject({ code: "FENCE_MOVED" });
  expect(await targetRows(ctx)).toBe("3new");
  expect(await copier.copy(REF, 1, 1, signal)).toEqual({ kind: "copied", rows: 5 });
  expect(await targetRows(ctx)).toBe("1a 2b 3new 4d 5e");
});

test("I3: pause and resume make a chunk under way void", async () => {
  await using ctx = await testContext();
  const hooks = once("chunk:after-read", async () => {
    await pauseMigration(scene, REF, signal);
    await resumeMigration(scene, REF, signal);
  });
  await using scene = await planned(ctx, { at: (point, detail) => hooks.at(point, detail) });
  await expect(new ChunkCopier(scene).copy(REF, 1, 1, signal)).rejects.toMatchObject({ code: "FENCE_MOVED" });
  expect(await targetRows(ctx)).toBe("");
});

test("a chunk that two workers copy at once is done by one of them", async () => {
  await using ctx = await testContext();
  let second: Promise<unknown> | undefined;
  const hooks = once("chunk:before-commit", async () => {
    // The double reads and waits for the first one's mark.
    second = new ChunkCopier({ ...scene, hooks: noHooks }).copy(REF, 1, 1, signal);
    await new Promise((resolve) => setTimeout(resolve, 200));
  });
  await using scene = await planned(ctx, { at: (point, detail) => hooks.at(point, detail) });
  expect(await new ChunkCopier(scene).copy(REF, 1, 1, signal)).toEqual({ kind: "copied", rows: 5 });
  expect(await second).toEqual({ kind: "void" });
  const [chunk] = await ctx.target.query(`SELECT COUNT(*) AS n, SUM(row_count) AS total FROM ${ctx.stateSchema}.chunks`);
  expect(chunk).toMatchObject({ n: "1", total: "5" });
  expect(await targetRows(ctx)).toBe("1a 2b 3c 4d 5e");
});

/** The same on a target that holds some ten thousands of rows behind the source's last. */
async function overlaid(ctx: TestContext, hooks: Hooks): Promise<EngineContext & AsyncDisposable> {
  await ctx.target.query(`CREATE DATABASE ${ctx.schema}; CREATE TABLE ${ctx.schema}.t (id INT PRIMARY KEY, v VARCHAR(10)); ${manyRows(ctx, 100_001)}; INSERT INTO ${ctx.schema}.t VALUES (3,'old')`);
  return await planned(ctx, hooks, { existingTarget: "resume" });
}

const manyRows = (ctx: TestContext, first: number) =>
  `SET SESSION cte_max_recursion_depth=1000000; INSERT INTO ${ctx.schema}.t WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<24999) SELECT ${first}+i, 'many' FROM n`;

test("I3: a range that is cleared in several transactions: none of them deletes what a batch has written", async () => {
  await using ctx = await testContext();
  const hooks = once("chunk:after-clear", async () => {
    await ctx.source.query(`UPDATE ${ctx.schema}.t SET v='new' WHERE id=3`);
    await ctx.target.query(`UPDATE ${ctx.stateSchema}.fence SET seq=seq+1; REPLACE INTO ${ctx.schema}.t VALUES (3,'new')`);
  });
  await using context = await overlaid(ctx, hooks);
  const copier = new ChunkCopier(context);
  await expect(copier.copy(REF, 1, 1, signal)).rejects.toMatchObject({ code: "FENCE_MOVED" });
  expect(await ctx.target.query(`SELECT v FROM ${ctx.schema}.t WHERE id=3`)).toEqual([{ v: "new" }]);
  expect(await copier.copy(REF, 1, 1, signal)).toEqual({ kind: "copied", rows: 5 });
  expect(await targetRows(ctx)).toBe("1a 2b 3new 4d 5e");
});

test("I3: a range that is cleared in several transactions: none of them deletes what a double of the job has written", async () => {
  await using ctx = await testContext();
  let second: unknown;
  const hooks = once("chunk:after-clear", async () => {
    second = await new ChunkCopier({ ...scene, hooks: noHooks }).copy(REF, 1, 1, signal);
  });
  await using scene = await overlaid(ctx, { at: (point, detail) => hooks.at(point, detail) });
  // More than one transaction deletes.
  await ctx.source.query(manyRows(ctx, 6));
  expect(await new ChunkCopier(scene).copy(REF, 1, 1, signal)).toEqual({ kind: "void" });
  expect(second).toEqual({ kind: "copied", rows: 25_005 });
  expect(await ctx.target.query(`SELECT COUNT(*) AS n, MAX(id) AS last FROM ${ctx.schema}.t`)).toEqual([{ n: "25005", last: 25_005 }]);
});

test("I2: a batch is applied once, in order, and only where it begins at the fence", async () => {
  await using ctx = await testContext({ allowedKey: () => true });
  await using context = await planned(ctx, noHooks);
  await new ChunkCopier(context).copy(REF, 1, 1, signal);
  await ctx.target.query(`UPDATE ${ctx.stateSchema}.migrations SET phase='streaming'`);
  const fence = await context.connections.use("DST", "target", signal, (session) => context.state.fence.require(session, "m"));
  const chain = new BacklogChain(ctx.redis, ctx.prefix, "m");
  const put = (id: string, v: string) => encodeBatch({ tables: [{ number: 1, deletes: [], puts: [textRow([Buffer.from(id), Buffer.from(v)])] }], statement: null });
  const uuid = "11111111-1111-1111-1111-111111111111";
  const info = { rows: 1, transactions: 1, sourceTime: 1 };
  const tip = await chain.reset({ epoch: fence.epoch, seq: fence.seq, position: fence.position });
  expect(await chain.append(tip, { ...info, chain: tip.chain, epoch: tip.epoch, seq: 1, from: tip.position, to: `${uuid}:1` }, put("1", "one"))).toBeGreaterThan(0);
  // A zombie tail that begins where this one began.
  expect(await chain.append(tip, { ...info, chain: tip.chain, epoch: tip.epoch, seq: 1, from: tip.position, to: `${uuid}:9` }, put("1", "zombie"))).toBeNull();
  const raw = await ctx.redis.lindex(`${ctx.prefix}:backlog:m:chain`, 0);
  const apply = async () => {
    const blocking = ctx.redis.duplicate();
    try {
      await runApplier(context, REF, { chain, blocking, lease: 300, executor: { execute: () => Promise.reject(new Error("no statement")) }, onBarrierPassed: () => Promise.resolve() }, signal);
    } finally {
      blocking.disconnect();
    }
  };
  await apply();
  expect(await targetRows(ctx)).toBe("1one 2b 3c 4d 5e");
  // The same batch again, as after a crash between commit and drop, or from an older snapshot of Redis: it is dropped.
  await ctx.target.query(`UPDATE ${ctx.schema}.t SET v='later' WHERE id=1`);
  await ctx.redis.lpush(`${ctx.prefix}:backlog:m:chain`, raw ?? "");
  await apply();
  expect(await targetRows(ctx)).toBe("1later 2b 3c 4d 5e");
  // A chain that does not fit the fence is thrown away, not applied.
  await ctx.redis.rpush(`${ctx.prefix}:backlog:m:chain`, JSON.stringify({ ...info, chain: tip.chain, epoch: tip.epoch, seq: 2, from: `${uuid}:7`, to: `${uuid}:8` }));
  await ctx.redis.set(`${ctx.prefix}:backlog:m:batch:${tip.chain}:2`, put("2", "wrong"));
  await apply();
  expect(await targetRows(ctx)).toBe("1later 2b 3c 4d 5e");
  expect(await chain.tip()).toBeNull();
});

test("I3: an applier that was held up between its look at the fence and its transaction writes nothing when others have applied its batch", async () => {
  await using ctx = await testContext({ allowedKey: () => true });
  await using context = await planned(ctx, noHooks);
  await new ChunkCopier(context).copy(REF, 1, 1, signal);
  await ctx.target.query(`UPDATE ${ctx.stateSchema}.migrations SET phase='streaming'`);
  const fence = await context.connections.use("DST", "target", signal, (session) => context.state.fence.require(session, "m"));
  const chain = new BacklogChain(ctx.redis, ctx.prefix, "m");
  let tip = await chain.reset({ epoch: fence.epoch, seq: fence.seq, position: fence.position });
  const add = async (v: string) => {
    const seq = tip.seq + 1;
    const to = `11111111-1111-1111-1111-111111111111:${seq}`;
    const payload = encodeBatch({ tables: [{ number: 1, deletes: [], puts: [textRow([Buffer.from("1"), Buffer.from(v)])] }], statement: null });
    expect(await chain.append(tip, { rows: 1, transactions: 1, sourceTime: 1, chain: tip.chain, epoch: tip.epoch, seq, from: tip.position, to }, payload)).toBeGreaterThan(0);
    tip = { ...tip, seq, position: to };
  };
  const apply = async (hooks: Hooks) => {
    const blocking = ctx.redis.duplicate();
    try {
      await runApplier({ ...context, hooks }, REF, { chain, blocking, lease: 300, executor: { execute: () => Promise.reject(new Error("no statement")) }, onBarrierPassed: () => Promise.resolve() }, signal);
    } finally {
      blocking.disconnect();
    }
  };
  await add("one");
  await add("two");
  const seen: unknown[] = [];
  await apply({
    at: async (point, { seq }) => {
      if (point === "batch:before-apply") seen.push(seq);
      if (point !== "batch:before-apply" || seen.length > 1) return;
      await apply(noHooks);
      expect(await targetRows(ctx)).toBe("1two 2b 3c 4d 5e");
      await add("three");
    },
  });
  // It held batch 1, which was void by then. What comes later is applied by whoever has the time.
  expect(seen[0]).toBe(1);
  await apply(noHooks);
  expect(await targetRows(ctx)).toBe("1three 2b 3c 4d 5e");
  expect(await context.connections.use("DST", "target", signal, (session) => context.state.fence.require(session, "m"))).toMatchObject({ seq: 3, position: tip.position, appliedRows: 3 });
});
