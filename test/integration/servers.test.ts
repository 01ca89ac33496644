/** The servers module itself: each test opens its own servers, since it stops, kills or abandons them. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readlinkSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { Redis } from "ioredis";
import { createConnection } from "mysql2/promise";
import type { RowDataPacket } from "mysql2/promise";
import { expect, test } from "vitest";

import { processIdentity } from "../../scripts/servers/identity.js";
import { openServers } from "../../scripts/servers/index.js";
import type { MysqlServer } from "../../scripts/servers/index.js";

/** What must be gone when the program that started it is gone. */
interface Started {
  pids: number[];
  folder: string;
}

/** Runs a program that starts servers by `ask`, then does `end`. */
async function owner(ask: string, end: string): Promise<{ child: ChildProcess; started: Started }> {
  const program = `
    import { openServers } from "./scripts/servers/index.ts";
    const servers = await openServers();
    const started = await Promise.all([${ask}]);
    console.log(JSON.stringify(started.map(({ pid }) => pid ?? 0)));
    // until the test has looked at them
    process.stdin.once("data", () => { process.stdin.unref(); ${end} });
  `;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const pids = JSON.parse(line.toString()) as number[];
  // a server's working folder is its own, one below the one that must go
  const folder = pids.includes(0) ? "" : dirname(readlinkSync(`/proc/${pids[0]}/cwd`));
  return { child, started: { pids, folder } };
}

async function query(server: MysqlServer, sql: string): Promise<RowDataPacket[]> {
  const connection = await createConnection(server.url);
  try {
    const [rows] = await connection.query<RowDataPacket[]>(sql);
    return rows;
  } finally {
    await connection.end();
  }
}

const both = 'servers.mysql({ name: "left" }), servers.redis()';
const redisAlone = "servers.redis()";
const stay = "setInterval(() => {}, 1000);";

test.for([
  { how: "kill -9", ask: both, end: stay, signal: "SIGKILL" },
  { how: "Ctrl-C", ask: redisAlone, end: stay, signal: "SIGINT" },
  { how: "SIGTERM", ask: redisAlone, end: stay, signal: "SIGTERM" },
  { how: "an uncaught exception", ask: redisAlone, end: "throw new Error('planted');", signal: undefined },
  { how: "process.exit", ask: redisAlone, end: "process.exit(0);", signal: undefined },
  { how: "forgetting to close", ask: both, end: "", signal: undefined },
] as const)("nothing is left after $how", async ({ ask, end, signal }, { skip }) => {
  if (process.platform !== "linux") return skip("looks into /proc");
  const { child, started } = await owner(ask, end);
  try {
    if (started.pids.includes(0)) return skip("the servers are no processes of this machine");
    expect(started.pids.map((pid) => processIdentity(pid))).not.toContain(undefined);
    expect(existsSync(started.folder)).toBe(true);
    const exited = once(child, "exit");
    child.stdin?.write("end\n");
    if (signal !== undefined) child.kill(signal);
    await exited;
    const left = (): unknown[] =>
      [...started.pids, started.folder].filter((one) => (typeof one === "number" ? processIdentity(one) : existsSync(one)));
    await expect.poll(left, { timeout: 10_000, interval: 50 }).toEqual([]);
  } finally {
    child.kill("SIGKILL");
  }
});

test("MySQL keeps its data and port over stop, kill and start; close deletes them", async (ctx) => {
  await using servers = await openServers();
  const server = await servers.mysql({ name: "keeps", config: { innodb_buffer_pool_size: "64M" } });
  if (server.pid === undefined) return ctx.skip("the server is no process of this machine");
  await query(server, "CREATE DATABASE kept");
  await query(server, "CREATE TABLE kept.t (id INT PRIMARY KEY)");
  await query(server, "INSERT INTO kept.t VALUES (1)");
  await server.stop();
  expect(server.pid).toBeUndefined();
  await expect(query(server, "SELECT 1")).rejects.toThrow("ECONNREFUSED");
  await server.start();
  await query(server, "INSERT INTO kept.t VALUES (2)");
  await server.kill();
  await server.start();
  expect(await query(server, "SELECT id FROM kept.t ORDER BY id")).toEqual([{ id: 1 }, { id: 2 }]);
  // a process that does not run cannot see a SIGTERM
  process.kill(server.pid ?? 0, "SIGSTOP");
  await server.stop();
  const folder = server.dataDir ?? "";
  await server.close();
  expect(existsSync(folder)).toBe(false);
  await expect(server.start()).rejects.toThrow("closed");
});

test("MySQL starts without history, with the settings that Drover needs, and the user may grant", async (ctx) => {
  await using servers = await openServers();
  const server = await servers.mysql({ name: "plain", config: { max_allowed_packet: "32M" } });
  if (server.pid === undefined) return ctx.skip("the server is no process of this machine");
  const [row] = await query(
    server,
    `SELECT @@log_bin bin, @@binlog_format format, @@binlog_row_image image, @@binlog_row_metadata metadata, @@gtid_mode gtid,
       @@local_infile local, @@gtid_executed executed, @@max_allowed_packet packet`,
  );
  expect(row).toEqual({
    bin: 1,
    format: "ROW",
    image: "FULL",
    metadata: "FULL",
    gtid: "ON",
    local: 1,
    executed: "",
    packet: 32 * 2 ** 20,
  });
  await query(server, "CREATE USER other IDENTIFIED BY 'secret'");
  await query(server, "GRANT ALL ON *.* TO other WITH GRANT OPTION");
});

test("a server that refuses its options is an error with the server's own words", async (ctx) => {
  await using servers = await openServers();
  const server = await servers.mysql({ name: "bad", config: { no_such_option: 1 } }).catch((error: Error) => error);
  if (!(server instanceof Error)) return ctx.skip("the server is no process of this machine");
  expect(server.message).toMatch(/server bad did not start \(exit code 1\)[^]*unknown variable/);
});

test("MariaDB comes the same way", async (ctx) => {
  await using servers = await openServers();
  const server = await servers.mysql({ name: "maria", flavor: "mariadb" }).catch((error: Error) => error);
  if (server instanceof Error) return ctx.skip(server.message);
  expect(server.version).toMatch(/mariadb/i);
  const [row] = await query(
    server,
    "SELECT @@log_bin bin, @@binlog_format format, @@binlog_row_metadata metadata, @@gtid_binlog_pos pos",
  );
  expect(row).toEqual({ bin: 1, format: "ROW", metadata: "FULL", pos: "" });
});

test("Redis never evicts, and keeps its data over kill and start", async (ctx) => {
  await using servers = await openServers();
  const server = await servers.redis();
  const redis = new Redis(server.url);
  redis.on("error", () => undefined);
  try {
    expect(await redis.config("GET", "maxmemory-policy")).toEqual(["maxmemory-policy", "noeviction"]);
    if (server.pid === undefined) return ctx.skip("the server is no process of this machine");
    await redis.set("key", "value");
    // appendfsync everysec: what Redis wrote to its file survives its death, whether synced or not
    await sleep(50);
    await server.kill();
    await server.start();
    expect(await redis.get("key")).toBe("value");
  } finally {
    redis.disconnect();
  }
});
