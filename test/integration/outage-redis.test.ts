/** Redis is disposable (promise 3): ended, killed, emptied, refusing to write, full. Each on a Redis of its own; MySQL is shared. */
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openServers, type RedisServer, type Servers } from "../../scripts/servers/index.js";
import { FaultScene, Loop, numbered, until } from "../support/fault-scene.js";

let servers: Servers;

beforeAll(async () => {
  servers = await openServers({});
}, 60_000);

afterAll(async () => {
  await servers?.[Symbol.asyncDispose]();
});

async function command(redis: RedisServer, ...args: [string, ...string[]]): Promise<void> {
  // An endpoint of the environment is somebody's own: none of this is done to it.
  if (process.env["DROVER_TEST_REDIS_URL"] !== undefined) throw new Error("these outages need a Redis that the test started itself");
  const connection = new Redis(redis.url, { maxRetriesPerRequest: 1 });
  connection.on("error", () => undefined);
  try {
    await connection.call(...args);
  } finally {
    connection.disconnect();
  }
}

/** What happens to Redis, and for how long (milliseconds) it is of no use. */
const OUTAGES: [string, (redis: RedisServer) => Promise<void>][] = [
  ["is stopped for a while", async (redis) => {
    await redis.stop();
    await sleep(2_000);
    await redis.start();
  }],
  ["is killed and loses its latest writes", async (redis) => {
    await redis.kill();
    await sleep(2_000);
    await redis.start();
  }],
  ["is emptied", (redis) => command(redis, "FLUSHALL")],
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
    await scene.worker({ at: async (point) => void (point === "chunk:before-read" && (await sleep(40))) });
    await scene.start({ chunkRows: 50, copyConcurrency: 2 });
    const writer = new Loop((turn) => scene.sql("source", `REPLACE INTO ${scene.schema}.t VALUES (${(turn * 7) % 2_100}, 'turn ${turn}')`), 20);
    await until(async () => (await scene.chunksDone()) >= 5, "some chunks");
    await outage(redis);
    const begin = Date.now();
    const done = await scene.chunksDone();
    await until(async () => (await scene.chunksDone()) > done || (await scene.client.status("m")).phase !== "copying", "the copy to go on");
    expect(Date.now() - begin).toBeLessThan(30_000);
    await scene.phase("streaming", 90_000);
    await outage(redis);
    await sleep(200);
    await writer.stop();
    await scene.sql("source", `REPLACE INTO ${scene.schema}.t VALUES (9999, 'last')`);
    const again = Date.now();
    await scene.applied();
    expect(Date.now() - again).toBeLessThan(30_000);
    expect(await scene.differences()).toEqual([]);
  }, 150_000);
});
