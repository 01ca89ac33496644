/** `/healthz` and `/readyz` of a worker and of the board: alive is one thing, working another. */
import { Redis } from "ioredis";
import { pino } from "pino";
import { expect, test } from "vitest";
import { openServers } from "../../scripts/servers/index.js";
import { loadConfig } from "../../src/producers/index.js";
import type { QueueName } from "../../src/shared/queue-names.js";
import { openQueues } from "../../src/shared/queues.js";
import { runWorker } from "../../src/workers/index.js";
import { testContext, type TestContext } from "../support/context.js";
import { until } from "../support/fault-scene.js";

interface Readiness {
  status: number;
  problems: string[];
}

async function ready(url: string | null): Promise<Readiness> {
  const answer = await fetch(new URL("/readyz", url ?? ""));
  const { ok, problems } = (await answer.json()) as { ok: boolean; problems: string[] };
  expect(ok).toBe(answer.status === 200);
  return { status: answer.status, problems };
}

async function worker(ctx: TestContext, options: { queues?: QueueName[]; redisUrl?: string } = {}) {
  const env = { ...ctx.env, DROVER_WORKER_PORT: "0", ...(options.redisUrl === undefined ? {} : { DROVER_REDIS_URL: options.redisUrl }) };
  const running = await runWorker({ config: loadConfig(env), log: pino({ level: "silent" }), ...(options.queues ? { queues: options.queues } : {}) });
  return { url: running.monitoringUrl, [Symbol.asyncDispose]: () => running.close() };
}

test("a worker is ready while it consumes; its port answers nothing else", async () => {
  await using ctx = await testContext();
  await using running = await worker(ctx);
  await until(async () => (await ready(running.url)).status === 200, "the worker to be ready", 10_000);
  expect(await (await fetch(new URL("/healthz", running.url ?? ""))).json()).toEqual({ ok: true });
  expect((await fetch(new URL("/", running.url ?? ""))).status).toBe(404);
  expect((await fetch(new URL("/healthz", running.url ?? ""), { method: "POST", body: "x".repeat(100_000) })).status).toBe(405);
});

test.each([
  ["", {}],
  ["with a priority ", { priority: 5 }],
])("a job %sthat waits while nobody works makes a worker unready", async (_kind, options) => {
  await using ctx = await testContext();
  await using running = await worker(ctx, { queues: ["diff"] });
  await until(async () => (await ready(running.url)).status === 200, "the worker to be ready", 10_000);
  const queues = openQueues(ctx.redis, ctx.prefix);
  // A paused queue hands out nothing, as a worker that hangs takes nothing.
  await queues.diff.pause();
  await queues.diff.add("chunk", {}, { timestamp: Date.now() - 60_000, ...options });
  await until(async () => (await ready(running.url)).status === 503, "the worker to be unready", 10_000);
  const { problems } = await ready(running.url);
  expect(problems).toEqual([expect.stringMatching(/^queue diff: a job has been waiting for 6\d s, and nobody works$/)]);
  await Promise.all(Object.values(queues).map((queue) => queue.close()));
});

test("Redis that is gone, and Redis that refuses to write, make a worker unready", async () => {
  await using ctx = await testContext();
  await using servers = await openServers();
  const redis = await servers.redis();
  await using running = await worker(ctx, { redisUrl: redis.url });
  await until(async () => (await ready(running.url)).status === 200, "the worker to be ready", 10_000);
  await redis.stop();
  await until(async () => (await ready(running.url)).status === 503, "the worker to be unready", 10_000);
  expect(await ready(running.url)).toEqual({ status: 503, problems: [expect.stringMatching(/^Redis: /)] });
  expect((await fetch(new URL("/healthz", running.url ?? ""))).status).toBe(200);
  await redis.start();
  await until(async () => (await ready(running.url)).status === 200, "the worker to be ready again", 20_000);
  const admin = new Redis(redis.url);
  await admin.config("SET", "maxmemory", "1");
  await until(async () => (await ready(running.url)).status === 503, "the worker to be unready", 10_000);
  expect(await ready(running.url)).toEqual({ status: 503, problems: ["Redis: OOM"] });
  await admin.config("SET", "maxmemory", "0");
  admin.disconnect();
});
