/** The target's disk is full for a while: its files, which it refuses to write, and its binlog, where MySQL looks for room once a minute with the commit waiting. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openServers, type MysqlServer, type ServerConfig, type Servers } from "../../scripts/servers/index.js";
import { FaultScene, Loop, numbered, until } from "../support/fault-scene.js";
import { SmallDisk, mayMount } from "../support/small-disk.js";

const mountable = await mayMount();
const TARGETS: [string, ServerConfig][] = [["without a binlog", { skip_log_bin: true }], ["with a binlog", {}]];

describe("a target whose disk is full for a while", () => {
  let servers: Servers;
  let source: MysqlServer;

  beforeAll(async () => {
    if (!mountable) return;
    servers = await openServers({});
    source = await servers.mysql({ name: "source" });
  }, 180_000);
  afterAll(async () => {
    await servers?.[Symbol.asyncDispose]();
  });

  for (const [i, [kind, config]] of TARGETS.entries()) it.concurrent(`${kind}: says why nothing moves, goes on by itself when there is room, and no row is lost`, async ({ skip }) => {
    skip(!mountable, "this process may not mount a file system");
    const target = await servers.mysql({ name: `small-${i}`, config: { ...config, innodb_redo_log_capacity: 8 << 20 } });
    const disk = await SmallDisk.under(target as MysqlServer & { dataDir: string }, 400);
    const redis = await servers.redis();
    const scene = await FaultScene.open({ source: source.url, target: target.url, redis: redis.url }, numbered("t", 12_000, 1_000));
    try {
      await scene.worker({ at: async (point) => void (point === "chunk:before-read" && (await sleep(300))) });
      await scene.start({ chunkRows: 200 });
      await until(async () => (await scene.chunksDone()) >= 5, "some chunks");
      await disk.fill();
      await until(async () => (await scene.client.status("m").catch(() => null))?.stuck != null, "status to say that nothing moves", 60_000);
      const done = await scene.chunksDone();
      expect(done).toBeLessThan(60);
      const writer = new Loop(async (turn) => await scene.sql("source", `UPDATE ${scene.schema}.t SET v=CONCAT('n', ${turn}) WHERE id=${1 + (turn % 12_000)}`), 20);
      await disk.empty();
      await scene.phase("streaming", 120_000);
      await writer.stop();
      expect(await scene.differences()).toEqual([]);
      for (const side of ["source", "target"] as const) expect((await scene.transactions(side)).filter((age) => age > 10)).toEqual([]);
    } finally {
      // A full server can neither be looked at nor cleaned.
      await disk.empty();
      await scene[Symbol.asyncDispose]();
      await target.stop();
      await disk[Symbol.asyncDispose]();
      await target.close();
    }
  }, 240_000);
});
