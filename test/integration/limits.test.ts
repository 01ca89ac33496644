/** Limits per server over all workers, and many migrations at once under them (the small form of `npm run many`). */
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { expect, test } from "vitest";
import { DroverClient, loadConfig } from "../../src/producers/index.js";
import { runWorker } from "../../src/workers/index.js";
import { Places } from "../../src/workers/limits/places.js";
import { ServerLimit } from "../../src/workers/limits/server-limit.js";
import { isQueueKey, testContext, type TestContext } from "../support/context.js";

const signal = new AbortController().signal;
/** The mark of a limit stays for some seconds, and of a migration that works on its backlog. */
const open = () => testContext({ allowedKey: (key, prefix) => isQueueKey(key, prefix) || key.startsWith(`${prefix}:limit:`) || key.startsWith(`${prefix}:backlog:`) });

/** The same limit as `workers` processes keep it, and the most that were inside at one time. */
function scene(ctx: TestContext, limit: number, workers: number) {
  const key = `${ctx.prefix}:limit:SRC:connections`;
  const limits = Array.from({ length: workers }, (_, i) => new ServerLimit({ server: "SRC", kind: "connections", limit, worker: `w${i}`, places: new Places(ctx.redis, key), redisReady: () => true }));
  const seen = { inside: 0, most: 0 };
  const inside = async <T>(worker: number, use: "outer" | "nested" | "standing", work: () => Promise<T>): Promise<T> => {
    const release = await (limits[worker] as ServerLimit).admit(use, signal);
    seen.most = Math.max(seen.most, ++seen.inside);
    try {
      return await work();
    } finally {
      seen.inside -= 1;
      release();
    }
  };
  return { key, seen, inside, [Symbol.dispose]: () => limits.forEach((one) => one.close()) };
}

test("the places of all workers together are never more than the limit, and all get their turn; also when Redis is emptied", async () => {
  await using ctx = await open();
  using places = scene(ctx, 5, 3);
  let done = 0;
  const task = async (i: number): Promise<void> => {
    try {
      await places.inside(i % 3, "outer", () => sleep(30 + (i % 7) * 30));
      done += 1;
    } catch (error) {
      // Put off, and tried again: as a job is.
      expect(error).toMatchObject({ code: "LIMIT_REACHED" });
      await task(i);
    }
  };
  const tasks = Array.from({ length: 60 }, (_, i) => task(i));
  await expect.poll(() => done, { timeout: 30_000, interval: 20 }).toBeGreaterThan(5);
  // In the middle of it: each worker puts back what it holds, before anything new is given.
  await ctx.redis.del(places.key, `${places.key}:begun`);
  await Promise.all(tasks);
  expect(done).toBe(60);
  expect(places.seen.most).toBeLessThanOrEqual(5);
  expect(places.seen.most).toBeGreaterThan(2);
}, 60_000);

test("those that each hold one and want a second one do not wait for each other for ever", async () => {
  await using ctx = await open();
  using places = scene(ctx, 4, 2);
  await Promise.all(Array.from({ length: 12 }, (_, i) => places.inside(i % 2, "outer", () => places.inside(i % 2, "nested", () => sleep(20)))));
  expect(places.seen.most).toBeLessThanOrEqual(4);
}, 60_000);

test("what stays for long leaves room for work; who finds no place gives way; a dead worker's places are free again", async () => {
  await using ctx = await open();
  using places = scene(ctx, 8, 2);
  const end = new AbortController();
  const forever = () => new Promise<void>((resolve) => end.signal.addEventListener("abort", () => resolve()));
  const standing = Array.from({ length: 8 }, () => places.inside(0, "standing", forever));
  const refused = await Promise.allSettled(standing.map((one) => Promise.race([one, sleep(6_000)])));
  expect(refused.filter((one) => one.status === "rejected").map((one) => (one.reason as { code: string }).code)).toEqual(["LIMIT_REACHED", "LIMIT_REACHED", "LIMIT_REACHED"]);
  expect(places.seen.inside).toBe(5);
  await places.inside(1, "outer", () => sleep(1));
  // Tokens of a worker that renews no more: their time is over.
  await ctx.redis.zadd(places.key, 1, "dead.1", 1, "dead.2", 1, "dead.3");
  await places.inside(1, "outer", () => sleep(1));
  expect(await ctx.redis.zscore(places.key, "dead.1")).toBeNull();
  end.abort();
  await Promise.allSettled(standing);
}, 60_000);

test("a large and four small migrations at once: all arrive, the small ones first, within what the servers may have", async () => {
  await using ctx = await open();
  const sizes = { large: 60_000, a: 50, b: 50, c: 50, d: 50 };
  await ctx.source.query("SET SESSION cte_max_recursion_depth=10000000");
  for (const [name, rows] of Object.entries(sizes))
    await ctx.source.query(`CREATE TABLE ${ctx.schema}.${name} (id INT PRIMARY KEY, pad VARCHAR(100)); INSERT INTO ${ctx.schema}.${name} WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<${rows}) SELECT i, REPEAT('x', 100) FROM n`);
  const limit = 24;
  const config = loadConfig({ ...ctx.env, DROVER_LIMITS_SRC: `connections=${limit},statements=12`, DROVER_LIMITS_DST: `connections=${limit},statements=12` });
  await using client = new DroverClient({ config });
  for (const name of Object.keys(sizes)) await client.startMigration({ id: name, source: "SRC", target: "DST", tables: [{ schema: ctx.schema, table: name }], options: { chunkRows: 1_000, priority: name === "large" ? 6 : 5 } });
  const arrived: string[] = [];
  const most = { source: 0, target: 0 };
  const workers = await Promise.all([1, 2].map(() => runWorker({ config, concurrency: 1, log: pino({ level: "silent" }) })));
  try {
    while (arrived.length < 5) {
      // The workers' user is the test's own, and nobody else has it now.
      for (const side of ["source", "target"] as const) most[side] = Math.max(most[side], (await ctx[side].sessions()).length);
      const phases = await ctx.target.query(`SELECT id, phase FROM ${ctx.stateSchema}.migrations`);
      for (const { id, phase } of phases as { id: string; phase: string }[]) if (phase === "streaming" && !arrived.includes(id)) arrived.push(id);
      await sleep(20);
    }
  } finally {
    await Promise.all(workers.map((worker) => worker.close()));
  }
  expect(arrived.at(-1)).toBe("large");
  expect(most.source).toBeLessThanOrEqual(limit);
  expect(most.target).toBeLessThanOrEqual(limit);
  // Two for each binlog: so it was the limit that was measured, and not an idle server.
  expect(most.source).toBeGreaterThanOrEqual(10);
}, 240_000);
