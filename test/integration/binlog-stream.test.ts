/** The stream's life: flow control, how it ends and what it leaves behind (cases 6–9, 36). On a server of its own, which the tests stop and kill. */
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import ZongJi from "@vlasky/zongji";
import { createConnection, type Connection, type RowDataPacket } from "mysql2/promise";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openServers } from "../../scripts/servers/index.js";
import type { MysqlServer, Servers } from "../../scripts/servers/index.js";
import { DroverError } from "../../src/shared/errors.js";
import { openBinlogStream } from "../../src/workers/binlog/stream.js";
import { Recorder, type RecorderOptions } from "./binlog-recorder.js";

let servers: Servers;
let server: MysqlServer;
let client: Connection;
let run = 0;
let schema = "";

beforeAll(async () => {
  servers = await openServers({});
  server = await servers.mysql({ name: "stream", config: { innodb_flush_log_at_trx_commit: 2, sync_binlog: 0, max_allowed_packet: "256M" } });
}, 60_000);
afterAll(async () => {
  await servers.close();
});

async function connect(): Promise<Connection> {
  const connection = await createConnection({ host: server.host, port: server.port, user: server.user, password: server.password, multipleStatements: true });
  connection.on("error", () => undefined);
  return connection;
}

beforeEach(async () => {
  schema = `s${run++}`;
  client = await connect();
  await client.query(`CREATE DATABASE ${schema}; USE ${schema}; CREATE TABLE t (id int PRIMARY KEY AUTO_INCREMENT, v longblob)`);
  return () => client.destroy();
});

async function position(): Promise<string> {
  const [rows] = await client.query<RowDataPacket[]>("SELECT @@gtid_executed AS position");
  return rows[0]?.["position"];
}

async function follow(options: Partial<RecorderOptions> = {}): Promise<Recorder> {
  return await Recorder.open({ server, position: await position(), schema, ...options });
}

/** Ids of the sessions on the server that are neither ours nor the server's. */
async function sessions(): Promise<string[]> {
  const [rows] = await client.query<RowDataPacket[]>("SELECT id, command FROM performance_schema.processlist WHERE id <> connection_id() AND command <> 'Daemon'");
  return rows.map((row) => `${row["id"]} ${row["command"]}`);
}

async function expectNoSessions(): Promise<void> {
  for (let i = 0; (await sessions()).length > 0 && i < 20; i++) await sleep(50);
  expect(await sessions()).toEqual([]);
}

async function failure(promise: Promise<unknown>): Promise<DroverError> {
  const error: unknown = await promise.then(
    () => new Error("it went well"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(DroverError);
  expect((error as Error).message).not.toContain(server.password);
  return error as DroverError;
}

describe("what is used of zongji 0.9.0", () => {
  it("is the pinned version", async () => {
    const own = JSON.parse(await readFile("package.json", "utf8"));
    const installed = JSON.parse(await readFile("node_modules/@vlasky/zongji/package.json", "utf8"));
    expect([own.dependencies["@vlasky/zongji"], installed.version]).toEqual(["0.9.0", "0.9.0"]);
  });

  it("a BinlogClass put in its place in `ready` is the dump command; each packet goes to what `start` returned; queries enqueued there run before", async () => {
    interface Inside {
      BinlogClass: new (callback: unknown) => { start(packet: unknown, connection: unknown): unknown };
      connection: { query(sql: string, done: (error: unknown) => void): void };
      ctrlConnection: { threadId: number };
      isMariaDb: boolean;
    }
    const { host, port, user, password } = server;
    const zongji = new ZongJi({ host, port, user, password });
    const inside = zongji as unknown as Inside;
    const seen: string[] = [];
    zongji.on("binlog", () => seen.push("zongji's own event"));
    zongji.on("error", (error: Error) => seen.push(`error ${error.message}`));
    const packets = new Promise<void>((resolve) => {
      zongji.on("ready", () => {
        seen.push(`ready ${inside.isMariaDb}`);
        inside.connection.query("SET @x = 1", (error) => seen.push(`query ${error}`));
        const Original = inside.BinlogClass;
        expect(typeof Original.prototype.start).toBe("function");
        inside.BinlogClass = class extends Original {
          override start(packet: unknown, connection: unknown): unknown {
            seen.push("start");
            super.start(packet, connection);
            const next = (event: { buffer: Buffer; offset: number; end: number }) => {
              // Status byte, then the header's type: the dump begins with an artificial ROTATE and the format description.
              seen.push(`packet ${event.buffer[event.offset]} ${event.buffer[event.offset + 5]}`);
              if (seen.filter((line) => line.startsWith("packet")).length === 2) resolve();
              return next;
            };
            return next;
          }
        };
      });
    });
    zongji.start({ serverId: 77, gtidSet: await position() });
    await packets;
    // The query's callback comes a little later than its answer, which must be there before the dump is asked for.
    expect(seen.slice(0, 5)).toEqual(["ready false", "start", "query null", "packet 0 4", "packet 0 15"]);
    await new Promise<void>((resolve) => {
      zongji.on("stopped", () => resolve());
      zongji.stop();
    });
    await expectNoSessions();
  });
});

describe("flow control", () => {
  it("pause from a handler's call stops the calls at once; resume goes on exactly there", async () => {
    const seen: string[] = [];
    await using recorder = await follow({
      onCommit: ({ rows }) => {
        seen.push(rows[0]?.cells?.[0] ?? "?");
        recorder.stream.pause();
      },
    });
    for (let i = 1; i <= 5; i++) await client.query(`INSERT INTO t VALUES (${i}, 'x')`);
    for (let i = 1; i <= 5; i++) {
      await recorder.until((transactions) => transactions.length === i);
      await sleep(60);
      expect(seen.length).toBe(i);
      recorder.stream.resume();
    }
    expect(seen).toEqual(["1", "2", "3", "4", "5"]);
  });

  it("also in the middle of a compressed transaction", async () => {
    let rows = 0;
    let pausedAt = 0;
    await using recorder = await follow({
      onRow: () => {
        if (++rows !== 20_000) return;
        pausedAt = rows;
        recorder.stream.pause();
      },
    });
    await client.query("SET SESSION binlog_transaction_compression=ON, cte_max_recursion_depth=200000; INSERT INTO t (v) WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i+1 FROM n WHERE i < 100000) SELECT sha2(i, 256) FROM n");
    while (pausedAt === 0) await sleep(20);
    await sleep(300);
    expect(rows).toBeLessThan(60_000);
    expect(recorder.transactions).toEqual([]);
    recorder.stream.resume();
    await recorder.until((transactions) => transactions.length === 1);
    expect(rows).toBe(100_000);
  });

  it("nothing is called before the opening promise is settled", async () => {
    const from = await position();
    await client.query("INSERT INTO t VALUES (1, 'x')");
    let opened = false;
    const recorder = await Recorder.open({ server, position: from, schema, onCommit: () => expect(opened).toBe(true) });
    opened = true;
    await recorder.until((transactions) => transactions.length > 0);
    await recorder.stream.close();
  });
});

describe("the end", () => {
  it("close and abort leave nothing on the server, no timer, and no further call", async () => {
    const closing = await follow();
    const aborting = await follow();
    expect(closing.stream.sessionIds.length).toBe(2);
    expect((await sessions()).filter((session) => session.endsWith("Binlog Dump GTID")).length).toBe(2);
    const started = performance.now();
    await closing.stream.close();
    aborting.abort.abort();
    await Promise.all([closing.stream.ended, aborting.stream.ended]);
    expect(performance.now() - started).toBeLessThan(1000);
    await expectNoSessions();
    await client.query("INSERT INTO t VALUES (1, 'x')");
    await sleep(50);
    expect([...closing.transactions, ...aborting.transactions]).toEqual([]);
    expect(process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length).toBeLessThanOrEqual(1);
  });

  it("a signal that has fired already, or fires while connecting, opens nothing", async () => {
    const options = { host: server.host, port: server.port, user: server.user, password: server.password, serverId: 5, position: "", handler: {} as never };
    expect(await failure(openBinlogStream({ ...options, signal: AbortSignal.abort() }))).toMatchObject({ code: "ABORTED" });
    const abort = new AbortController();
    const opening = openBinlogStream({ ...options, signal: abort.signal });
    abort.abort();
    expect(await failure(opening)).toMatchObject({ code: "ABORTED" });
    await expectNoSessions();
  });

  it("a dump that an operator kills, or another of the same id throws out, is lost", async () => {
    const recorder = await follow({ stream: { serverId: 4711 } });
    await client.query(`KILL ${recorder.stream.sessionIds[0]}`);
    expect(await failure(recorder.stream.ended)).toMatchObject({ code: "CONNECTION_LOST" });
    const first = await follow({ stream: { serverId: 4711 } });
    const second = await follow({ stream: { serverId: 4711 } });
    expect(await failure(first.stream.ended)).toMatchObject({ code: "CONNECTION_LOST" });
    await second.stream.close();
    await expectNoSessions();
  });

  it("a server that falls silent is noticed by the missing heartbeats", async () => {
    const recorder = await follow({ stream: { silenceMilliseconds: 2000 } });
    await sleep(2500);
    // Heartbeats alone keep it alive.
    expect(Date.now() - recorder.stream.lastPacketAt).toBeLessThan(1500);
    process.kill(server.pid as number, "SIGSTOP");
    try {
      const error = await failure(recorder.stream.ended);
      expect(error).toMatchObject({ code: "CONNECTION_LOST" });
      expect(error.message).toContain("heartbeat");
    } finally {
      process.kill(server.pid as number, "SIGCONT");
    }
    await expectNoSessions();
  });

  it("an unknown address, a wrong password, a missing grant", async () => {
    const signal = new AbortController().signal;
    const options = { host: server.host, port: server.port, user: server.user, password: server.password, serverId: 6, position: "", handler: {} as never, signal };
    expect(await failure(openBinlogStream({ ...options, port: 1 }))).toMatchObject({ code: "CONNECTION_LOST" });
    expect(await failure(openBinlogStream({ ...options, password: "wrong" }))).toMatchObject({ code: "SERVER_UNAVAILABLE", errno: 1045 });
    await client.query("CREATE USER IF NOT EXISTS plain IDENTIFIED BY 'pw'");
    const refused = await failure(openBinlogStream({ ...options, user: "plain", password: "pw" }));
    expect(refused).toMatchObject({ code: "STATEMENT_REFUSED" });
    expect(refused.cure).toContain("REPLICATION SLAVE");
    expect(await failure(openBinlogStream({ ...options, position: "0-1-5" }))).toMatchObject({ code: "STATEMENT_REFUSED" });
    await expectNoSessions();
  });

  it("a position whose binlog is purged, or that the server has not reached", async () => {
    const [uuid] = (await position()).split(":");
    expect(await failure(follow({ position: `${uuid}:1-1000000` }))).toMatchObject({ code: "STATEMENT_REFUSED", errno: 1236 });
    const before = await position();
    await client.query("INSERT INTO t VALUES (1, 'x')");
    await client.query("FLUSH BINARY LOGS");
    const [logs] = await client.query<RowDataPacket[]>("SHOW BINARY LOGS");
    await client.query(`PURGE BINARY LOGS TO '${logs.at(-1)?.["Log_name"]}'`);
    const error = await failure(follow({ position: before }));
    expect(error).toMatchObject({ code: "BINLOG_PURGED", errno: 1236 });
    expect(error.cure).toContain("binlog_expire_logs_seconds");
    await expectNoSessions();
  });
});

describe("through changes of the server's files", () => {
  it("a new binlog file, one without checksums, and back", async () => {
    await using recorder = await follow();
    await client.query("INSERT INTO t VALUES (1, 'x'); FLUSH BINARY LOGS; INSERT INTO t VALUES (2, 'x'); SET GLOBAL binlog_checksum=NONE; INSERT INTO t VALUES (3, 'x')");
    await recorder.until((transactions) => transactions.length === 3);
    // From a position before, with the global setting already changed: the files differ.
    await using second = await Recorder.open({ server, position: recorder.transactions[0]?.gtid.replace(/:(\d+)$/, ":1-$1") ?? "", schema });
    await client.query("SET GLOBAL binlog_checksum=CRC32; INSERT INTO t VALUES (4, 'x')");
    await second.until((transactions) => transactions.length === 3);
    const ids = await recorder.until((transactions) => transactions.length === 4 && transactions.map(({ rows }) => rows[0]?.cells?.[0]));
    expect(ids).toEqual(["1", "2", "3", "4"]);
  });

  it("a restart after kill -9 ends the stream; the next one goes on", async () => {
    const recorder = await follow();
    await client.query("INSERT INTO t VALUES (1, 'x')");
    await recorder.until((transactions) => transactions.length === 1);
    const from = await position();
    await server.kill();
    expect(await failure(recorder.stream.ended)).toMatchObject({ code: "CONNECTION_LOST" });
    await server.start();
    client = await connect();
    await using second = await Recorder.open({ server, position: from, schema });
    await client.query(`INSERT INTO ${schema}.t VALUES (2, 'x')`);
    await second.until((transactions) => transactions.length === 1);
    client.destroy();
  });
});

describe("memory", () => {
  it.each(["OFF", "ON"])("a transaction of 75 MB is not held in memory (compression %s)", async (compression) => {
    let rows = 0;
    let base = 0;
    let peak = 0;
    const memory = () => process.memoryUsage().arrayBuffers;
    await using recorder = await follow({
      onRow: () => {
        if (rows === 0) base = memory();
        if (++rows % 500 === 0) peak = Math.max(peak, memory() - base);
      },
    });
    await client.query(`SET SESSION binlog_transaction_compression=${compression}, cte_max_recursion_depth=200000;
      INSERT INTO t (v) WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i+1 FROM n WHERE i < 15000) SELECT repeat(sha2(i, 256), 80) FROM n`);
    await recorder.until((transactions) => transactions.length === 1, 30_000);
    expect(rows).toBe(15_000);
    expect(peak).toBeLessThan(40 << 20);
  });

  it("a row of 40 MB passes, and its buffers are given back", async () => {
    let size = 0;
    await using recorder = await follow({ onRow: (row) => { size = row.cells?.[1]?.length ?? 0; } });
    await client.query("INSERT INTO t (v) VALUES (repeat('x', 40000000))");
    await recorder.until((transactions) => transactions.length === 1, 30_000);
    expect(size).toBe(40_000_000);
  });
});
