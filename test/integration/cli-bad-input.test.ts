/** What a user may get wrong: each time one clear message with its cure, exit code 2, and nothing changed on either server. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openServers, type MysqlServer, type Servers } from "../../scripts/servers/index.js";
import { testContext, type TestContext } from "../support/context.js";
import { cli } from "../unit/producers/cli/fake-terminal.js";
import { drover, ensureBuilt } from "./cli-process.js";
import { PreflightServer } from "./preflight-support.js";

beforeAll(ensureBuilt, 180_000);

type Spec = Record<string, unknown>;

function spec(ctx: TestContext, changes: Spec = {}): Spec {
  return { id: "shop", source: "SRC", target: "DST", tables: [{ schema: ctx.schema }], ...changes };
}

/** Runs `start`, and `check`, which must say the same. @returns what `start` says */
async function refused(ctx: TestContext, input: Spec, env: Record<string, string> = ctx.env): Promise<string> {
  const before = await traces(ctx);
  const stdin = JSON.stringify(input);
  const start = await drover(["start", "-"], { env, stdin });
  expect(start).toMatchObject({ exitCode: 2, stdout: "" });
  expect(start.stderr).toContain("→ ");
  expect(start.stderr).not.toMatch(/\n\s+at /);
  for (const secret of [ctx.source.password, ctx.target.password]) expect(start.stderr).not.toContain(secret);
  // In this process: a process of its own would only cost time.
  const check = await cli(["check", "-"], { environment: env, stdin });
  expect(check).toMatchObject({ exitCode: 2, stderr: "" });
  for (const [line] of start.stderr.matchAll(/^✗ .*$/gm)) expect(check.stdout).toContain(line);
  expect(await traces(ctx)).toEqual(before);
  return start.stderr;
}

/** What a start would leave: schemas on both servers, and keys in Redis. */
async function traces(ctx: TestContext): Promise<unknown> {
  const look = async (side: TestContext["source"]) =>
    await side.query("SELECT TABLE_SCHEMA AS s, TABLE_NAME AS t, CREATE_TIME AS c FROM information_schema.TABLES WHERE TABLE_SCHEMA LIKE ? ORDER BY 1, 2", [`${ctx.id}%`]);
  const schemas = async (side: TestContext["source"]) => await side.query("SELECT SCHEMA_NAME AS s FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE ? ORDER BY 1", [`${ctx.id}%`]);
  return [await look(ctx.source), await look(ctx.target), await schemas(ctx.source), await schemas(ctx.target), (await ctx.redis.keys(`${ctx.prefix}*`)).sort()];
}

async function withTable(ctx: TestContext): Promise<void> {
  await ctx.source.query(`CREATE TABLE ${ctx.schema}.orders (id INT PRIMARY KEY, total DECIMAL(10,2)); INSERT INTO ${ctx.schema}.orders VALUES (1, 1.5), (2, 2.5)`);
}

test("wrong keys, all of them at once, each with its path", async () => {
  await using ctx = await testContext();
  await withTable(ctx);
  const said = await refused(ctx, spec(ctx, { tabels: [], tables: [{ schema: ctx.schema, exlude: ["a"] }], options: { chunkRow: 1 } }));
  for (const key of ['"tabels"', '"tables.0.exlude"', '"options.chunkRow"']) expect(said).toContain(key);
});

test("an unknown connection, with the names that there are", async () => {
  await using ctx = await testContext();
  await withTable(ctx);
  const said = await refused(ctx, spec(ctx, { source: "SCR" }));
  expect(said).toContain("SCR");
  expect(said).toContain("SRC");
});

test("a missing table", async () => {
  await using ctx = await testContext();
  await withTable(ctx);
  const said = await refused(ctx, spec(ctx, { tables: [{ schema: ctx.schema, table: "ordres" }] }));
  expect(said).toContain(`${ctx.schema}.ordres`);
});

test("no grants: all that are missing, on both servers", async () => {
  await using ctx = await testContext();
  await withTable(ctx);
  for (const side of [ctx.source, ctx.target]) await side.query(`SET SESSION sql_log_bin=0; REVOKE ALL PRIVILEGES, GRANT OPTION FROM '${side.user}'@'%'; SET SESSION sql_log_bin=1`);
  await ctx.source.query(`SET SESSION sql_log_bin=0; GRANT SELECT ON ${ctx.schema}.* TO '${ctx.source.user}'@'%'; SET SESSION sql_log_bin=1`);
  const said = await refused(ctx, spec(ctx));
  expect(said).toContain("REPLICATION SLAVE");
  expect(said).toContain("GRANT ");
  expect(said).toMatch(/✗ SRC/);
  expect(said).toMatch(/✗ DST/);
});

test("a target table that is full", async () => {
  await using ctx = await testContext();
  await withTable(ctx);
  await ctx.target.query(`CREATE DATABASE ${ctx.schema}; CREATE TABLE ${ctx.schema}.orders (id INT PRIMARY KEY, total DECIMAL(10,2)); INSERT INTO ${ctx.schema}.orders VALUES (7, 7)`);
  const said = await refused(ctx, spec(ctx));
  expect(said).toContain(`${ctx.schema}.orders`);
  expect(said).toContain("existingTarget");
  const rows = await ctx.target.query(`SELECT id FROM ${ctx.schema}.orders`);
  expect(rows).toEqual([{ id: 7 }]);
});

test("a wrong password, and a server that is not there", async () => {
  await using ctx = await testContext();
  await withTable(ctx);
  const url = new URL(ctx.source.url);
  url.password = "n0tThat";
  const said = await refused(ctx, spec(ctx), { ...ctx.env, DROVER_CONNECTION_SRC: url.href, DROVER_CONNECTION_DST: "mysql://u:p@127.0.0.1:1/" });
  expect(said).toMatch(/✗ SRC/);
  expect(said).toMatch(/✗ DST/);
  expect(said).not.toContain("n0tThat");
});

describe("without a binlog", () => {
  let servers: Servers;
  let mute: MysqlServer;
  beforeAll(async () => {
    servers = await openServers();
    mute = await servers.mysql({ name: "mute", config: { log_bin: false } });
  }, 120_000);
  afterAll(async () => await servers?.close());

  test("a source cannot be followed", async () => {
    await using ctx = await testContext();
    await using source = await PreflightServer.open(mute);
    await source.query("CREATE DATABASE shop; CREATE TABLE shop.orders (id INT PRIMARY KEY)");
    const said = await refused(ctx, spec(ctx, { tables: [{ schema: "shop" }] }), { ...ctx.env, DROVER_CONNECTION_SRC: source.url("admin", mute.password) });
    expect(said).toContain("log_bin");
    expect(said).not.toContain(mute.password);
  });
});
