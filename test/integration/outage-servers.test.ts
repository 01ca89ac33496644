/** MySQL servers that end, refuse, or forget, under a migration: cases 2, 3 and 7, failover, read-only. On servers of their own. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RowDataPacket } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openServers, type MysqlServer, type RedisServer, type Servers } from "../../scripts/servers/index.js";
import type { StoredError } from "../../src/shared/contracts/status.js";
import { FaultScene, Loop, numbered, until, type SceneServers } from "../support/fault-scene.js";
import { drover, ensureBuilt } from "./cli-process.js";

const CONFIG = { innodb_flush_log_at_trx_commit: 2, sync_binlog: 0 };

let servers: Servers;
let source: MysqlServer;
let target: MysqlServer;
let redis: RedisServer;
let urls: SceneServers;

beforeAll(async () => {
  await ensureBuilt();
  servers = await openServers({});
  [source, target, redis] = await Promise.all([servers.mysql({ name: "source", config: CONFIG }), servers.mysql({ name: "target", config: CONFIG }), servers.redis()]);
  urls = { source: source.url, target: target.url, redis: redis.url };
}, 180_000);

afterAll(async () => {
  await servers?.[Symbol.asyncDispose]();
});

const slow = { at: async (point: string) => void (point === "chunk:before-read" && (await sleep(30))) };

/** Every error that the state schema shows while `work` runs. */
async function errorsDuring(scene: FaultScene, work: () => Promise<void>): Promise<StoredError[]> {
  const seen: StoredError[] = [];
  const watch = new Loop(async () => {
    const { error } = await scene.client.status("m");
    if (error !== null && seen.at(-1)?.at !== error.at) seen.push(error);
  }, 20);
  await work();
  await watch.stop();
  return seen;
}

describe("the target", () => {
  it("is killed in the middle of the copy: status says so meanwhile, the error is recorded when that can be done, the copy goes on and ends (case 2)", async () => {
    await using scene = await FaultScene.open(urls, numbered("t", 4_000));
    let gate = Promise.resolve();
    await scene.worker({
      at: async (point) => {
        await slow.at(point);
        if (point === "chunk:before-read") await gate;
      },
    });
    await scene.start({ chunkRows: 50 });
    await until(async () => (await scene.chunksDone()) >= 8, "some chunks");
    await target.kill();
    const status = await drover(["status", "m", "--json"], { env: scene.env });
    expect(status.exitCode).toBe(2);
    expect(status.stderr).toContain("DST");
    // While nothing moves, the error that could not be saved at its time is saved now.
    let open = (): void => undefined;
    gate = new Promise((resolve) => (open = resolve));
    await target.start();
    await until(async () => (await scene.client.status("m")).error?.code === "CONNECTION_LOST", "the error to be recorded");
    expect(await scene.chunksDone()).toBeGreaterThanOrEqual(8);
    open();
    await scene.phase("streaming");
    expect(await scene.differences()).toEqual([]);
    await until(async () => (await scene.client.status("m")).error === null, "the error to be over");
  }, 90_000);

  it("is killed while 5,000 transactions are followed: each is applied once, none is lost (case 3)", async () => {
    await using scene = await FaultScene.open(urls, "CREATE TABLE event (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20)); CREATE TABLE counter (id INT PRIMARY KEY, n INT); INSERT INTO counter VALUES (1, 0);");
    await scene.worker();
    await scene.start({ batchRows: 200 });
    await scene.phase("streaming");
    await scene.applied();
    const before = (await scene.fence()).applied_transactions;
    const writers = Array.from({ length: 4 }, async (_, w) => {
      const db = await scene.connect();
      for (let i = 0; i < 1_250; i++) await db.query(i % 5 === 0 ? "UPDATE counter SET n=n+1" : `INSERT INTO event (v) VALUES ('${w}-${i}')`);
      db.destroy();
    });
    await until(async () => (await scene.fence()).applied_transactions - before > 500, "the follow to be under way");
    await target.kill();
    await sleep(1_000);
    await target.start();
    await Promise.all(writers);
    expect(await scene.differences()).toEqual([]);
    // Counted in the transactions that wrote the rows.
    expect((await scene.fence()).applied_transactions - before).toBe(5_000);
    const [row] = await scene.sql<{ events: number; n: number }>("target", `SELECT (SELECT COUNT(*) FROM ${scene.schema}.event) AS events, (SELECT n FROM ${scene.schema}.counter) AS n`);
    expect(row).toEqual({ events: 4_000, n: 1_000 });
  }, 90_000);

  it("is read-only for a while, in the copy and in the follow: status says since when and why nothing moves, then it goes on", async () => {
    await using scene = await FaultScene.open(urls, numbered("t", 3_000));
    await scene.worker(slow);
    await scene.start({ chunkRows: 50 });
    await until(async () => (await scene.chunksDone()) >= 5, "some chunks");
    const shut = async (open: () => Promise<void>) => {
      // SUPER may write to a server that is read_only alone.
      await scene.sql("target", "SET GLOBAL super_read_only=ON");
      await open();
      await scene.sql("target", "SET GLOBAL super_read_only=OFF, GLOBAL read_only=OFF");
    };
    await shut(async () => {
      await until(async () => (await scene.client.status("m")).stuck !== null, "status to say that nothing moves", 40_000);
      const { stuck } = await scene.client.status("m");
      expect(Date.now() - Date.parse(stuck?.since ?? "")).toBeGreaterThan(14_000);
      // The error itself cannot be recorded there.
      expect(stuck?.reason).toMatch(/DST is read-only/);
    });
    await scene.phase("streaming");
    await shut(async () => {
      await scene.sql("source", `UPDATE ${scene.schema}.t SET v='later' WHERE id < 100`);
      await sleep(2_000);
    });
    expect(await scene.differences()).toEqual([]);
  }, 90_000);
});

describe("the source", () => {
  it("is killed and comes back, in the copy and in the follow: both go on by themselves", async () => {
    await using scene = await FaultScene.open(urls, numbered("t", 4_000));
    await scene.worker(slow);
    await scene.start({ chunkRows: 50 });
    await until(async () => (await scene.chunksDone()) >= 8, "some chunks");
    const outage = async () => {
      await source.kill();
      await sleep(1_500);
      await source.start();
    };
    const errors = await errorsDuring(scene, async () => {
      await outage();
      await scene.phase("streaming");
    });
    expect(errors.map((error) => error.code)).toContain("CONNECTION_LOST");
    await outage();
    // Nobody writes: the error is shown all the same, and is over all the same.
    await until(async () => (await scene.client.status("m")).error?.code === "CONNECTION_LOST", "the error to be shown");
    await until(async () => (await scene.client.status("m")).error === null, "the error to be over");
    await scene.sql("source", `UPDATE ${scene.schema}.t SET v='after' WHERE id < 100`);
    expect(await scene.differences()).toEqual([]);
    expect((await scene.client.status("m")).phase).toBe("streaming");
  }, 90_000);

  it("has purged the binlog that is needed: the migration fails with a clear text and is not tried again for ever (case 7)", async () => {
    await using scene = await FaultScene.open(urls, numbered("t", 200));
    await scene.worker();
    await scene.start();
    await scene.phase("streaming");
    await scene.client.pause("m");
    await scene.sql("source", `DELETE FROM ${scene.schema}.t WHERE id=1; FLUSH BINARY LOGS; DELETE FROM ${scene.schema}.t WHERE id=2; FLUSH BINARY LOGS`);
    const logs = await scene.sql<{ Log_name: string }>("source", "SHOW BINARY LOGS");
    await scene.sql("source", `PURGE BINARY LOGS TO '${logs.at(-1)?.Log_name}'`);
    await scene.client.resume("m");
    await scene.phase("failed", 15_000);
    const { error } = await scene.client.status("m");
    expect(error).toMatchObject({ code: "BINLOG_PURGED", errno: 1236 });
    expect(error?.message).toMatch(/purged.*start the migration anew/is);
    const waited = await drover(["wait", "m", "--for", "streaming", "--timeout", "20s"], { env: scene.env });
    expect(waited.exitCode).toBe(3);
    expect(waited.stderr).toMatch(/BINLOG_PURGED|purged/i);
    // Terminal: nobody asks the source again.
    await sleep(3_000);
    expect(await scene.sessions("source", { role: "tail" })).toEqual([]);
    const later = await scene.client.status("m");
    expect(later.phase).toBe("failed");
    expect(later.error?.retries).toBe(error?.retries);
    // A resume without a cure fails again, and as clearly.
    await scene.client.resume("m");
    await scene.phase("failed", 15_000);
    expect((await scene.client.status("m")).error?.code).toBe("BINLOG_PURGED");
  }, 90_000);

  it("fails over to another server with the same GTIDs: workers with the new address go on, nothing is lost", async () => {
    const replica = await servers.mysql({ name: "replica", config: CONFIG });
    try {
      await using scene = await FaultScene.open(urls, numbered("t", 3_000));
      await scene.addUser(replica.url);
      const old = await scene.worker(slow);
      await scene.start({ chunkRows: 50 });
      await until(async () => (await scene.chunksDone()) >= 8, "some chunks");
      // The purge of the test before took the history that a replica begins with: it gets it as if it were restored from a backup.
      await moveTo(scene, replica);
      await scene.close(old);
      await scene.moveSource(replica.url);
      await scene.worker(slow);
      const writer = new Loop((turn) => scene.sql("source", `REPLACE INTO ${scene.schema}.t VALUES (${turn}, 'replica ${turn}')`), 10);
      await until(async () => ["streaming", "failed"].includes((await scene.client.status("m").catch(() => ({ phase: "" }))).phase), "a phase", 60_000);
      if ((await scene.client.status("m")).phase === "failed") await scene.client.resume("m");
      await scene.phase("streaming");
      await writer.stop();
      expect(await scene.differences()).toEqual([]);
    } finally {
      await replica.close();
    }
  }, 120_000);

  it("fails over to a server that lost the latest transactions: the follow says so, does not go on as if nothing were missing, and does when they are there", async () => {
    const replica = await servers.mysql({ name: "replica", config: CONFIG });
    try {
      await using scene = await FaultScene.open(urls, numbered("t", 300));
      await scene.addUser(replica.url);
      const old = await scene.worker();
      await scene.start();
      await scene.phase("streaming");
      await moveTo(scene, replica);
      await scene.sql("source", `UPDATE ${scene.schema}.t SET v='lost' WHERE id=7`);
      await scene.applied();
      await scene.close(old);
      const lost = await lastTransaction();
      await scene.moveSource(replica.url);
      await scene.worker();
      await until(async () => (await scene.client.status("m")).error?.code === "SERVER_UNAVAILABLE", "the error to be shown", 40_000);
      expect((await scene.client.status("m")).error?.message).toMatch(/has not executed everything/);
      await scene.sql("source", `UPDATE ${scene.schema}.t SET v='new' WHERE id=8`);
      expect(await scene.sql("target", `SELECT v FROM ${scene.schema}.t WHERE id IN (7, 8) AND v IN ('lost', 'new')`)).toEqual([{ v: "lost" }]);
      // Found and brought back, as from the old server's binlog.
      await scene.sql("source", `SET gtid_next='${lost}'; UPDATE ${scene.schema}.t SET v='lost' WHERE id=7; SET gtid_next=AUTOMATIC`);
      await until(async () => (await scene.client.status("m")).error === null, "the error to be over", 40_000);
      expect(await scene.differences()).toEqual([]);
    } finally {
      await replica.close();
    }
  }, 120_000);

  async function lastTransaction(): Promise<string> {
    const { createConnection } = await import("mysql2/promise");
    const db = await createConnection({ uri: source.url });
    const [rows] = await db.query<RowDataPacket[]>("SELECT @@server_uuid AS uuid, @@GLOBAL.gtid_executed AS executed");
    db.destroy();
    const { uuid, executed } = rows[0] as { uuid: string; executed: string };
    return `${uuid}:${/(\d+)\s*$/.exec(executed.split(",").find((each) => each.trim().startsWith(uuid)) ?? "")?.[1]}`;
  }

  /** The replica takes the source's rows and GTID history, as a restored backup, then follows natively until it has all, and takes over. */
  async function moveTo(scene: FaultScene, replica: MysqlServer): Promise<void> {
    const dump = async () => await scene.sql<{ id: number; v: string }>("source", `SELECT id, v FROM ${scene.schema}.t`);
    const [gtid] = await scene.sql<{ executed: string }>("source", "SELECT @@GLOBAL.gtid_executed AS executed");
    const rows = await dump();
    const { createConnection } = await import("mysql2/promise");
    const db = await createConnection({ uri: replica.url, multipleStatements: true });
    await db.query(`SET SESSION sql_log_bin=0; CREATE DATABASE ${scene.schema}; CREATE TABLE ${scene.schema}.t (id INT PRIMARY KEY, v VARCHAR(4000))`);
    await db.query(`INSERT INTO ${scene.schema}.t VALUES ?`, [rows.map((row) => [row.id, row.v])]);
    await db.query(`RESET BINARY LOGS AND GTIDS; SET GLOBAL gtid_purged='${gtid?.executed}'`);
    await db.query(`CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=${source.port}, SOURCE_USER='${source.user}', SOURCE_PASSWORD='${source.password}', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1; START REPLICA`);
    for (let i = 0; i < 20; i++) await scene.sql("source", `REPLACE INTO ${scene.schema}.t VALUES (${i * 100}, 'before ${i}')`);
    const [last] = await scene.sql<{ executed: string }>("source", "SELECT @@GLOBAL.gtid_executed AS executed");
    await db.query(`SELECT WAIT_FOR_EXECUTED_GTID_SET('${last?.executed}', 20); STOP REPLICA; RESET REPLICA ALL`);
    db.destroy();
  }
});
