/**
 * A diff whose state server is locked, limited, killed, or cuts its connections (cases 10, 11, 12, 13), or whose Redis refuses to write: it reports the error,
 * and ends `completed` by itself when the trouble is over. On servers of its own.
 */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openServers, type MysqlServer, type RedisServer, type Servers } from "../../scripts/servers/index.js";
import { DroverError } from "../../src/shared/errors.js";
import type { DiffReport } from "../../src/shared/contracts/diff.js";
import type { Hooks } from "../../src/workers/hooks.js";
import { TestMysql } from "../support/mysql.js";
import { DiffScene, type SceneContext } from "./diff-scene.js";
import { DiffWorker } from "./diff-worker.js";

const NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<1000)";
const SMALL = { firstRows: 20, maxRows: 20, leafRows: 10 };

let servers: Servers;
let source: MysqlServer;
let target: MysqlServer;
let redis: RedisServer;

beforeAll(async () => {
  servers = await openServers({});
  const config = { innodb_flush_log_at_trx_commit: 2, sync_binlog: 0 };
  [source, target, redis] = await Promise.all([servers.mysql({ name: "source", config }), servers.mysql({ name: "target", config }), servers.redis()]);
}, 120_000);

afterAll(async () => {
  await servers?.[Symbol.asyncDispose]();
});

let contexts = 0;

async function ownContext(targetUrl = target.url): Promise<SceneContext & AsyncDisposable> {
  const id = `o${++contexts}`;
  const ctx = {
    source: new TestMysql(source.url, id), target: new TestMysql(target.url, id), schema: `${id}_db`, stateSchema: `${id}_state`,
    env: { DROVER_REDIS_URL: redis.url, DROVER_PREFIX: id, DROVER_STATE_SCHEMA: `${id}_state`, DROVER_CONNECTION_SRC: source.url, DROVER_CONNECTION_DST: targetUrl },
    async [Symbol.asyncDispose]() {
      const keys = new Redis(redis.url);
      for await (const found of keys.scanStream({ match: `${id}:*`, count: 1_000 }) as AsyncIterable<string[]>) if (found.length > 0) await keys.unlink(found);
      keys.disconnect();
      await Promise.all([ctx.source.close(), ctx.target.close()]);
    },
  };
  await ctx.source.query(`CREATE DATABASE ${ctx.schema}`);
  return ctx;
}

async function table(scene: DiffScene): Promise<void> {
  await scene.both("CREATE TABLE {db}.a (id INT PRIMARY KEY, v VARCHAR(40))", `INSERT INTO {db}.a ${NUMBERS} SELECT i, CONCAT('v', i) FROM n`);
  await scene.register("a");
  await scene.target("UPDATE {db}.a SET v='wrong' WHERE id IN (7, 777)");
}

async function ended(scene: DiffScene, diffId: string): Promise<DiffReport> {
  for (const until = Date.now() + 60_000; ; await sleep(100)) {
    const report = await scene.report(diffId).catch(() => null);
    if (report && report.state !== "pending" && report.state !== "running") return report;
    if (Date.now() > until) throw new Error(`the diff is still ${JSON.stringify(report)}`);
  }
}

async function reached(scene: DiffScene, diffId: string, rows: number): Promise<void> {
  for (const until = Date.now() + 30_000; Date.now() < until; await sleep(20)) {
    const report = await scene.report(diffId).catch(() => null);
    if (report && report.tables.reduce((sum, t) => sum + t.rowsCompared, 0) >= rows) return;
  }
  throw new Error("the diff does not get there");
}

/** Refuses every write for a while, as a primary without enough replicas does. */
async function refusing(url: string, milliseconds: number): Promise<{ over: Promise<void> }> {
  const connection = new Redis(url);
  await connection.config("SET", "min-replicas-to-write", "1");
  const over = sleep(milliseconds).then(() => connection.config("SET", "min-replicas-to-write", "0")).then(() => connection.disconnect());
  return { over };
}

function expectResult(report: DiffReport): void {
  expect(report).toMatchObject({ state: "completed", hasMismatch: true });
  expect(report.tables.map((t) => [t.rowsCompared, t.matching, t.mismatched])).toEqual([[1000, 998, 2]]);
}

/** Holds the diff's tables locked for longer than our sessions wait for a lock. @returns how often which error was raised on the server meanwhile */
async function lock(ctx: SceneContext, milliseconds: number): Promise<Record<string, number>> {
  const locker = await ctx.target.connect();
  const names = ["diffs", "diff_tables", "diff_chunks", "diff_rows"].map((name) => `${ctx.stateSchema}.${name} WRITE`).join(", ");
  const raised = async () => Object.fromEntries((await ctx.target.query("SELECT ERROR_NAME AS name, SUM_ERROR_RAISED AS n FROM performance_schema.events_errors_summary_global_by_error WHERE ERROR_NUMBER IN (1205, 3024)")).map((row) => [String(row["name"]), Number(row["n"])]));
  const before = await raised();
  await locker.query(`LOCK TABLES ${names}`);
  await sleep(milliseconds);
  await locker.query("UNLOCK TABLES");
  locker.destroy();
  return Object.fromEntries(Object.entries(await raised()).map(([name, n]) => [name, n - (before[name] ?? 0)]));
}

/**
 * A way to the target on which our sessions get a limit of half a second for a SELECT, in place of the one that they ask for: a server's
 * global `max_execution_time` is not ours, every session sets its own.
 */
class LimitingProxy implements AsyncDisposable {
  private static readonly asked = Buffer.from("max_execution_time=30000");
  private static readonly given = Buffer.from("max_execution_time=00500");
  /** Sessions that were limited. */
  limited = 0;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  private constructor(to: { host: string; port: number }) {
    this.server = createServer((client) => {
      const upstream = connect(to.port, to.host);
      for (const [socket, other] of [[client, upstream], [upstream, client]] as const) {
        this.sockets.add(socket);
        socket.on("error", () => other.destroy()).on("close", () => {
          this.sockets.delete(socket);
          other.destroy();
        });
      }
      upstream.pipe(client);
      client.on("data", (data: Buffer) => {
        const at = data.indexOf(LimitingProxy.asked);
        if (at >= 0) {
          LimitingProxy.given.copy(data, at);
          this.limited += 1;
        }
        upstream.write(data);
      });
    });
  }

  static async open(to: { host: string; port: number }): Promise<LimitingProxy> {
    const proxy = new LimitingProxy(to);
    await once(proxy.server.listen(0, "127.0.0.1"), "listening");
    return proxy;
  }

  /** The URL of the server behind it, with this in the way. */
  urlOf(server: string): string {
    const url = new URL(server);
    url.hostname = "127.0.0.1";
    url.port = String((this.server.address() as AddressInfo).port);
    return url.toString();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, "close");
  }
}

/** What a limit and a lock of the diff's own tables look like in its report: whichever came last. It is saved as soon as it can be, which may be after the end. */
async function expectLimitOrLock(scene: DiffScene, diffId: string): Promise<void> {
  await expect.poll(async () => (await scene.report(diffId)).lastError?.code, { timeout: 15_000 }).toBe("SERVER_BUSY");
  expect([1205, 3024]).toContain((await scene.report(diffId)).lastError?.errno);
}

const slow: Hooks = { at: async (point) => void (point === "diff:before-record" && (await sleep(30))) };

describe("a diff whose state server is in trouble", () => {
  it("ends by itself when a lock and a time limit held it up before it was initialized (case 10a)", async () => {
    await using proxy = await LimitingProxy.open(target);
    await using ctx = await ownContext(proxy.urlOf(target.url));
    await using scene = new DiffScene(ctx);
    await table(scene);
    const diffId = await scene.start();
    const locked = lock(ctx, 9_000);
    await sleep(100);
    await using worker = new DiffWorker(scene, { tuning: SMALL });
    // The job as a client puts it: the reconciler cannot read the diffs now.
    await worker.context.queues.diff.add("prepare", { ...scene.ref, diffId }, { jobId: `diff.m.${diffId}` });
    // The work begins with a SELECT, which waits for the lock, and the limit ends it.
    expect(await locked).toEqual({ ER_LOCK_WAIT_TIMEOUT: expect.any(Number), ER_QUERY_TIMEOUT: expect.toSatisfy((n: number) => n > 0) });
    const report = await ended(scene, diffId);
    expectResult(report);
    await expectLimitOrLock(scene, diffId);
    expect(proxy.limited).toBeGreaterThan(0);
  }, 90_000);

  it("ends by itself when a lock and a time limit held it up in the middle (case 10b)", async () => {
    await using proxy = await LimitingProxy.open(target);
    await using ctx = await ownContext(proxy.urlOf(target.url));
    await using scene = new DiffScene(ctx);
    await table(scene);
    await using worker = new DiffWorker(scene, { tuning: SMALL, hooks: slow });
    const diffId = await scene.start();
    await reached(scene, diffId, 200);
    // What is about to be recorded waits for the lock until it is given up, and what comes after it meets the limit.
    const atLeastOne = expect.toSatisfy((n: number) => n > 0);
    expect(await lock(ctx, 9_000)).toEqual({ ER_LOCK_WAIT_TIMEOUT: atLeastOne, ER_QUERY_TIMEOUT: atLeastOne });
    const report = await ended(scene, diffId);
    expectResult(report);
    await expectLimitOrLock(scene, diffId);
    expect(proxy.limited).toBeGreaterThan(0);
    void worker;
  }, 90_000);

  it("goes on after the server was killed, before and after it was initialized (case 11)", async () => {
    await using ctx = await ownContext();
    await using scene = new DiffScene(ctx);
    await table(scene);
    const diffId = await scene.start();
    await target.kill();
    await using worker = new DiffWorker(scene, { tuning: SMALL, hooks: slow });
    await worker.context.queues.diff.add("prepare", { ...scene.ref, diffId }, { jobId: `diff.m.${diffId}` });
    await sleep(2_000);
    await target.start();
    await reached(scene, diffId, 200);
    await target.kill();
    await sleep(3_000);
    await target.start();
    const report = await ended(scene, diffId);
    expectResult(report);
    // The error is saved as soon as it can be, which may be after the end.
    await expect.poll(async () => (await scene.report(diffId)).lastError?.code, { timeout: 10_000 }).toBe("CONNECTION_LOST");
    expect((await scene.report(diffId)).attempts).toBeGreaterThan(1);
  }, 120_000);

  it("records an error later when the connection that should record it is the one that broke (case 12), however long its text (case 13)", async () => {
    await using ctx = await ownContext();
    await using scene = new DiffScene(ctx);
    await table(scene);
    let trouble = true;
    let thrown = 0;
    const hooks: Hooks = {
      at: async (point) => {
        if (point !== "diff:before-record" || !trouble) return;
        thrown += 1;
        throw new DroverError("SERVER_BUSY", `${"uuid:1-5,".repeat(200_000)} is long`, { errno: 3024 });
      },
    };
    await using worker = new DiffWorker(scene, { tuning: SMALL, hooks });
    const diffId = await scene.start({ maxAttempts: 1_000 });
    while (thrown === 0) await sleep(20);
    // Every session of ours on the target dies for a while, the ones that save the error too.
    for (const until = Date.now() + 2_000; Date.now() < until; await sleep(5)) {
      for (const row of await ctx.target.query("SELECT p.id AS id FROM information_schema.processlist p JOIN performance_schema.session_connect_attrs a ON a.processlist_id=p.id WHERE a.attr_name='program_name' AND a.attr_value='drover'"))
        await ctx.target.query(`KILL ${String(row["id"])}`).catch(() => undefined);
    }
    for (const until = Date.now() + 20_000; Date.now() < until; await sleep(100)) {
      const report = await scene.report(diffId);
      if (report.lastError?.errno === 3024) break;
    }
    const report = await scene.report(diffId);
    expect(report.lastError).toMatchObject({ code: "SERVER_BUSY", errno: 3024 });
    expect(report.lastError?.message.length).toBeLessThanOrEqual(1_000);
    trouble = false;
    expectResult(await ended(scene, diffId));
    void worker;
  }, 90_000);
});

it("a Redis that refuses the jobs which planning makes ends no diff", async () => {
  await using ctx = await ownContext();
  await using scene = new DiffScene(ctx, { tuning: SMALL });
  await table(scene);
  const diffId = await scene.start();
  // Planning waits for this lock; the jobs come right behind it.
  const holder = await ctx.target.connect();
  await holder.query(`BEGIN; SELECT * FROM ${ctx.stateSchema}.diffs FOR UPDATE`);
  await using worker = new DiffWorker(scene, { tuning: SMALL });
  for (const until = Date.now() + 10_000; (await worker.context.queues.diff.getActiveCount()) === 0 && Date.now() < until; ) await sleep(50);
  await sleep(500);
  const { over } = await refusing(redis.url, 2_000);
  await holder.query("ROLLBACK");
  holder.destroy();
  const report = await ended(scene, diffId);
  await over;
  expect(report.attempts).toBeGreaterThan(1);
  expectResult(report);
});

it("a defect in a chunk ends the diff, with the defect as its error", async () => {
  await using ctx = await ownContext();
  await using scene = new DiffScene(ctx, { tuning: SMALL });
  await table(scene);
  const diffId = await scene.start();
  await using _worker = new DiffWorker(scene, { tuning: SMALL, hooks: { at: async (point, { chunk }) => { if (point === "diff:before-record" && chunk === 3) throw new RangeError("planted"); } } });
  const report = await ended(scene, diffId);
  expect(report).toMatchObject({ state: "failed", lastError: { code: "POISON", message: expect.stringContaining("unexpected: planted") } });
});
