/** `check` looks at Redis too: each thing that would lose jobs or stop the work is told with its cure, before anything is started. */
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openServers, type RedisServer, type Servers } from "../../scripts/servers/index.js";
import { DroverClient } from "../../src/producers/index.js";
import { loadConfig } from "../../src/shared/config.js";
import { testContext, type TestContext } from "../support/context.js";

let servers: Servers;
let server: RedisServer;
let admin: Redis;

beforeAll(async () => {
  servers = await openServers({});
  server = await servers.redis();
  admin = new Redis(server.url);
  admin.on("error", () => undefined);
}, 60_000);

afterAll(async () => {
  admin?.disconnect();
  await servers?.[Symbol.asyncDispose]();
});

const spec = (ctx: TestContext) => ({ id: "m", source: "SRC", target: "DST", tables: [{ schema: ctx.schema, table: "t" }] });

async function findings(ctx: TestContext): Promise<string[]> {
  const client = new DroverClient({ config: loadConfig({ ...ctx.env, DROVER_REDIS_URL: server.url }) });
  try {
    const found = (await client.check(spec(ctx))).filter((finding) => finding.code.startsWith("redis"));
    for (const { cure } of found) expect(cure).not.toBe("");
    return found.map(({ code, severity, message }) => `${severity} ${code}: ${message}`);
  } finally {
    await client.close();
  }
}

it("Redis is checked: memory, eviction, writes, role, login, reachability", async () => {
  await using ctx = await testContext();
  await ctx.source.query(`CREATE TABLE ${ctx.schema}.t (id INT PRIMARY KEY)`);
  const { hostname, port } = new URL(server.url);
  const place = `Redis at ${hostname}:${port}`;
  expect(await findings(ctx)).toEqual([]);
  await admin.config("SET", "maxmemory-policy", "allkeys-lru");
  expect(await findings(ctx)).toEqual([expect.stringMatching(/^warning redis-eviction: .*allkeys-lru/)]);
  await admin.config("SET", "maxmemory", "64mb");
  expect(await findings(ctx)).toEqual([expect.stringMatching(/^error redis-eviction: .*64 MiB/), expect.stringMatching(/^warning redis-memory: .*64 MiB.*256 MiB/)]);
  const blocked = new DroverClient({ config: loadConfig({ ...ctx.env, DROVER_REDIS_URL: server.url }) });
  await expect(blocked.startMigration(spec(ctx), { preflight: true })).rejects.toMatchObject({ code: "PREFLIGHT_FAILED", problems: [{ code: "redis-eviction" }] });
  await blocked.close();
  await admin.config("SET", "maxmemory", "0");
  await admin.config("SET", "maxmemory-policy", "noeviction");
  await admin.config("SET", "min-replicas-to-write", "1");
  expect(await findings(ctx)).toEqual([expect.stringMatching(/^error redis-write: .*NOREPLICAS/)]);
  await admin.config("SET", "min-replicas-to-write", "0");
  await admin.call("REPLICAOF", "127.0.0.1", "1");
  expect(await findings(ctx)).toEqual([`error redis-read-only: ${place} is a replica`]);
  await admin.call("REPLICAOF", "NO", "ONE");
  expect(await findings(ctx)).toEqual([]);
  await admin.config("SET", "requirepass", "secret-of-redis");
  const refused = await findings(ctx);
  expect(refused).toEqual([expect.stringMatching(/^error redis: .* refuses the login: NOAUTH/)]);
  await admin.config("SET", "requirepass", "");
  admin.disconnect();
  await server.stop();
  expect(await findings(ctx)).toEqual([`error redis: ${place} refuses connections: nothing listens there`]);
}, 60_000);
