/** Redis is disposable (promise 3): ended, killed, emptied, refusing to write, full. Each on a Redis of its own; MySQL is shared. */
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { encodeBatch } from "../../src/shared/backlog/batch.js";
import { BacklogChain, type Tip } from "../../src/shared/backlog/chain.js";
import { openServers, type RedisServer, type Servers } from "../../scripts/servers/index.js";
import { FaultScene, Loop, numbered, until } from "../support/fault-scene.js";

let servers: Servers;

beforeAll(async () => {
  servers = await openServers({});
}, 60_000);

afterAll(async () => {
  await servers?.[Symbol.asyncDispose]();
});

async function command(redis: RedisServer, ...args: [string, ...string[]]): Promise<unknown> {
  // An endpoint of the environment is somebody's own: none of this is done to it.
  if (process.env["DROVER_TEST_REDIS_URL"] !== undefined) throw new Error("these outages need a Redis that the test started itself");
  const connection = new Redis(redis.url, { maxRetriesPerRequest: 1 });
  connection.on("error", () => undefined);
  try {
    return await connection.call(...args);
  } finally {
    connection.disconnect();
  }
}

/** Milliseconds that a chunk of the copy takes at least. */
interface Pace {
  chunk: number;
}
const CHUNK_PACE = 40;

/** The tail's place in Redis: how many batches there have been, and in which chain. */
async function tipOf(redis: RedisServer, scene: FaultScene): Promise<{ chain: string; seq: number }> {
  return JSON.parse(String(await command(redis, "GET", `${scene.id}:backlog:m:tip`))) as { chain: string; seq: number };
}

/** Redis comes back as it was a while ago: chunks, batches and jobs are not there any more, or there again. */
async function comeBackOlder(redis: RedisServer, scene: FaultScene, pace: Pace): Promise<void> {
  const phaseOf = async () => (await scene.client.status("m")).phase;
  const [phase, chunks, fence, tip] = [await phaseOf(), await scene.chunksDone(), await scene.fence(), await tipOf(redis, scene)];
  // While the copy is under way batches are few.
  const batches = phase === "copying" ? 2 : 5;
  pace.chunk = 500;
  // From now on nothing reaches the disk.
  await command(redis, "CONFIG", "SET", "appendonly", "no");
  await command(redis, "SET", `${scene.id}:later`, "1");
  await until(async () => (phase === "copying" ? (await scene.chunksDone()) >= chunks + 5 : (await scene.fence()).seq >= fence.seq + batches) && (await tipOf(redis, scene)).seq >= tip.seq + batches, "chunks and batches that will be lost");
  expect(await phaseOf()).toBe(phase);
  expect(await tipOf(redis, scene)).toMatchObject({ chain: tip.chain });
  await redis.kill();
  await redis.start();
  expect(await command(redis, "EXISTS", `${scene.id}:later`)).toBe(0);
  pace.chunk = CHUNK_PACE;
}

/** What happens to Redis, and for how long (milliseconds) it is of no use. */
const OUTAGES: [string, (redis: RedisServer, scene: FaultScene, pace: Pace) => Promise<void>][] = [
  ["is stopped for a while", async (redis) => {
    await redis.stop();
    await sleep(2_000);
    await redis.start();
  }],
  ["is killed, and loses nothing", async (redis) => {
    await redis.kill();
    await sleep(2_000);
    await redis.start();
  }],
  ["is killed and loses its latest writes, as one restored from a snapshot or a replica that lagged", comeBackOlder],
  ["is emptied", async (redis) => void (await command(redis, "FLUSHALL"))],
  ["refuses to write, as a replica does", async (redis) => {
    // A primary that does not have enough replicas refuses every write.
    await command(redis, "CONFIG", "SET", "min-replicas-to-write", "1");
    await sleep(3_000);
    await command(redis, "CONFIG", "SET", "min-replicas-to-write", "0");
  }],
  ["becomes a read-only replica of nobody", async (redis) => {
    await command(redis, "REPLICAOF", "127.0.0.1", "1");
    await sleep(3_000);
    await command(redis, "REPLICAOF", "NO", "ONE");
  }],
  ["is out of memory", async (redis) => {
    await command(redis, "CONFIG", "SET", "maxmemory", "1mb");
    await sleep(3_000);
    await command(redis, "CONFIG", "SET", "maxmemory", "0");
  }],
];

describe("Redis", () => {
  it.concurrent.each(OUTAGES)("%s, in the copy and in the follow: the work goes on by itself, no row is lost", async (_name, outage) => {
    const redis = await servers.redis();
    await using scene = await FaultScene.open({ source: inject("servers").source, target: inject("servers").target, redis: redis.url }, numbered("t", 2_000));
    const pace: Pace = { chunk: CHUNK_PACE };
    await scene.worker({ at: async (point) => void (point === "chunk:before-read" && (await sleep(pace.chunk))) });
    await scene.start({ chunkRows: 50, copyConcurrency: 2 });
    const writer = new Loop((turn) => scene.sql("source", `REPLACE INTO ${scene.schema}.t VALUES (${(turn * 7) % 2_100}, 'turn ${turn}')`), 20);
    await until(async () => (await scene.chunksDone()) >= 5, "some chunks", 90_000);
    await outage(redis, scene, pace);
    const begin = Date.now();
    const done = await scene.chunksDone();
    await until(async () => (await scene.chunksDone()) > done || (await scene.client.status("m")).phase !== "copying", "the copy to go on");
    expect(Date.now() - begin).toBeLessThan(30_000);
    await scene.phase("streaming", 90_000);
    await outage(redis, scene, pace);
    await sleep(200);
    await writer.stop();
    await scene.sql("source", `REPLACE INTO ${scene.schema}.t VALUES (9999, 'last')`);
    const again = Date.now();
    await scene.applied();
    expect(Date.now() - again).toBeLessThan(30_000);
    expect(await scene.differences()).toEqual([]);
  }, 240_000);
});

describe("a chain of batches", () => {
  const payload = encodeBatch({ tables: [], statement: null });

  async function chainOn(redis: RedisServer) {
    const connection = new Redis(redis.url);
    connection.on("error", () => undefined);
    const chain = new BacklogChain(connection, "p", "m");
    const add = async (tip: Tip) => {
      const info = { chain: tip.chain, epoch: 1, seq: tip.seq + 1, from: tip.position, to: `p${tip.seq + 1}`, rows: 0, transactions: 1, sourceTime: 0 };
      return (await chain.append(tip, info, payload)) === null ? null : { ...tip, seq: info.seq, position: info.to };
    };
    return { chain, add, [Symbol.dispose]: () => connection.disconnect() };
  }

  it("ends with the run of Redis in which it began: what was cut behind an older tip must not be cut again under the same names", async () => {
    const redis = await servers.redis({ name: "restored" });
    using on = await chainOn(redis);
    const first = await on.add(await on.chain.reset({ epoch: 1, seq: 0, position: "p0" })) as Tip;
    await command(redis, "CONFIG", "SET", "appendonly", "no");
    expect(await on.add(first)).not.toBeNull();
    await redis.kill();
    await redis.start();
    expect(await on.chain.tip()).toEqual(first);
    expect(await on.chain.run()).not.toBe(first.run);
    expect(await on.add(first)).toBeNull();
    // A new one is as good as ever.
    expect(await on.add(await on.chain.reset({ epoch: 2, seq: 1, position: "p1" }))).not.toBeNull();
  });

  it("ends when another Redis is promoted", async () => {
    const redis = await servers.redis({ name: "promoted" });
    using on = await chainOn(redis);
    const tip = await on.chain.reset({ epoch: 1, seq: 0, position: "p0" });
    await command(redis, "REPLICAOF", "127.0.0.1", "1");
    await command(redis, "REPLICAOF", "NO", "ONE");
    expect(await on.chain.tip()).toEqual(tip);
    expect(await on.add(tip)).toBeNull();
  });
});

it("a Redis that refuses to write for a moment takes no cut-over back", async () => {
  const redis = await servers.redis();
  await using scene = await FaultScene.open({ source: inject("servers").source, target: inject("servers").target, redis: redis.url }, numbered("t", 100));
  let outages = 0;
  await scene.worker({
    at: async (point, { step }) => {
      if (point !== "cutover:step" || step !== "diff" || outages++ > 0) return;
      await command(redis, "CONFIG", "SET", "min-replicas-to-write", "1");
      setTimeout(() => void command(redis, "CONFIG", "SET", "min-replicas-to-write", "0"), 2_000);
    },
  });
  await scene.start();
  await scene.phase("streaming", 60_000);
  expect(await scene.client.cutover("m", { diff: true, timeout: 50_000, maxLag: 3_600_000 })).toMatchObject({ state: "completed", error: null });
  expect(outages).toBeGreaterThan(1);
});
