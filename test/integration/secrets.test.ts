/**
 * Promise 6: row data and credentials stay where they belong. A migration with marked values in its rows and marked passwords in its
 * connections runs, with a diff that finds differences, a row that the target refuses, a DDL that fails, and a bad spec;
 * meanwhile everything is collected that Drover writes or says. Only batch payloads may hold a mark.
 */
import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import { beforeAll, expect, test } from "vitest";
import type { DiffReport, MigrationStatus } from "../../src/producers/index.js";
import { QUEUE_NAMES } from "../../src/shared/queues.js";
import { testContext, type TestContext } from "../support/context.js";
import { DroverService, drover, ensureBuilt } from "./cli-process.js";

beforeAll(ensureBuilt, 180_000);

const mark = (what: string) => `mark${what}${randomBytes(6).toString("hex")}`;
const ROW = mark("row");
const CHANGED = mark("changed");
const TARGET = mark("target");
const REFUSED = mark("refused");
const LITERAL = mark("literal");
const TOKEN = mark("token");
const PASSWORD = mark("password");
const SPEC = mark("spec");

test("no row value and no credential outside of batch payloads", { timeout: 400_000 }, async () => {
  await using ctx = await testContext();
  const { schema } = ctx;
  await ctx.source.query(`CREATE TABLE ${schema}.people (id INT PRIMARY KEY, name VARCHAR(120), secret VARBINARY(120), UNIQUE KEY (name));
    CREATE TABLE ${schema}.other (id INT PRIMARY KEY, name VARCHAR(120));
    INSERT INTO ${schema}.people VALUES ${Array.from({ length: 40 }, (_, i) => `(${i + 1}, '${ROW}-${i}', '${ROW}-b${i}')`).join(",")}`);

  const found = new Findings([ROW, CHANGED, TARGET, REFUSED, LITERAL, TOKEN, PASSWORD, SPEC, ctx.source.password, ctx.target.password]);
  const monitor = await new Redis(ctx.redisUrl).monitor();
  monitor.on("monitor", (_time: string, args: string[]) => found.look("Redis command", withoutPayload(args).join(" ")));
  const env = { ...ctx.env, DROVER_LOG_LEVEL: "trace", DROVER_API_TOKEN: TOKEN, DROVER_CONNECTION_OLD: `mysql://old:${PASSWORD}@127.0.0.1:1/` };
  try {
    await using worker = new DroverService(["worker", "--metrics-port", "0"], { env });
    await using service = new DroverService(["board", "--port", "0", "--host", "127.0.0.1", "--json"], { env });
    await service.says('"url"');
    const board = (JSON.parse(service.output().stdout) as { url: string }).url;
    const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
      const headers = { authorization: `Bearer ${TOKEN}`, ...(body === undefined ? {} : { "content-type": "application/json" }) };
      const answer = await fetch(new URL(path, board), { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
      const text = await answer.text();
      found.look(`${method} ${path}`, text + JSON.stringify([...answer.headers]));
      return (text.startsWith("{") ? JSON.parse(text) : text) as T;
    };
    // What a browser sees of it all the time.
    const stream = new AbortController();
    let events = 0;
    const seen = (async () => {
      const { body } = await fetch(new URL("/events", board), { headers: { authorization: `Bearer ${TOKEN}` }, signal: stream.signal });
      for await (const part of (body ?? new ReadableStream<Uint8Array>()).pipeThrough(new TextDecoderStream())) {
        events += 1;
        found.look("GET /events", part);
      }
    })().catch((error: unknown) => {
      if (!stream.signal.aborted) throw error;
    });
    const ownPages = async () => {
      const [url] = /http:\/\/[\d.:]+/.exec(worker.output().stderr) ?? [];
      for (const path of ["/metrics", "/healthz", "/readyz"]) found.look(`worker's ${path}`, await (await fetch(new URL(path, url))).text());
    };
    const migration = "/api/v1/migrations/shop";
    const cli = async (...args: string[]) => {
      const end = await drover(args, { env });
      found.look(`drover ${args.join(" ")}`, end.stdout + end.stderr);
    };
    const statusIs = async (what: Partial<MigrationStatus> | Record<string, unknown>) =>
      await expect.poll(() => ask("GET", migration), { timeout: 60_000, interval: 300 }).toMatchObject(what);

    // A bad spec, by people who put a URL where a name belongs.
    await ask("POST", "/api/v1/migrations", { id: "shop", source: `mysql://u:${SPEC}@db/`, target: "DST", tables: [{ schema, include: SPEC }], options: { ddl: SPEC, chunkBytes: SPEC } });
    // Copy and follow.
    await ask("POST", "/api/v1/migrations", { id: "shop", source: "SRC", target: "DST", tables: [{ schema }], options: { ddl: "apply" } });
    await ask("POST", `${migration}/wait`, { for: "streaming", timeoutSeconds: 60 });
    await ctx.source.query(`UPDATE ${schema}.people SET name = CONCAT('${CHANGED}-', id) WHERE id <= 20; DELETE FROM ${schema}.people WHERE id = 3`);
    expect(await ask("POST", `${migration}/wait`, { for: "caught-up", timeoutSeconds: 60 })).toMatchObject({ reached: true });

    // A diff with differences, shown and repaired.
    await ctx.target.query(`UPDATE ${schema}.people SET secret = '${TARGET}' WHERE id < 8; INSERT INTO ${schema}.people VALUES (900, '${TARGET}', '${TARGET}')`);
    const { diffId } = await ask<{ diffId: string }>("POST", `${migration}/diffs`);
    expect(await ask<{ report: DiffReport }>("POST", `${migration}/diffs/${diffId}/wait`, { timeoutSeconds: 60 })).toMatchObject({ ended: true, report: { hasMismatch: true } });
    await ask("POST", `${migration}/diffs/${diffId}/repair`, {});
    await expect.poll(() => ask("GET", `${migration}/diffs/${diffId}/repair`), { timeout: 30_000 }).toMatchObject({ state: "completed" });
    await cli("diff", "show", "shop", diffId, "--json");
    await cli("diff", "repair", "shop", diffId, "--dry-run");

    // A row that the target refuses: MySQL's own message would quote its value.
    await ctx.target.query(`UPDATE ${schema}.other SET name = NULL; ALTER TABLE ${schema}.other MODIFY name INT`);
    await ctx.source.query(`INSERT INTO ${schema}.other VALUES (1, '${REFUSED}')`);
    await statusIs({ error: { code: expect.any(String) } });
    await everyPage(ask, migration);
    await cli("status", "shop");
    await ctx.target.query(`ALTER TABLE ${schema}.other MODIFY name VARCHAR(120)`);
    await ask("POST", `${migration}/resume`);
    expect(await ask("POST", `${migration}/wait`, { for: "caught-up", timeoutSeconds: 60 })).toMatchObject({ reached: true });

    // A DDL with a literal that fails on the target.
    await ctx.target.query(`ALTER TABLE ${schema}.other ADD COLUMN extra INT`);
    await ctx.source.query(`ALTER TABLE ${schema}.other ADD COLUMN extra VARCHAR(100) DEFAULT '${LITERAL}'`);
    await statusIs({ error: { code: expect.any(String) } });
    await everyPage(ask, migration);
    await cli("status", "shop", "--json");
    await ownPages();
    await ask("POST", `${migration}/stop`);
    stream.abort();
    await seen;
    expect(events).toBeGreaterThan(3);

    for (const [name, text] of await stateRows(ctx)) found.look(`state schema, ${name}`, text);
    found.look("keys of Redis", (await ctx.redis.keys(`${ctx.prefix}*`)).join("\n"));
    found.look("logs of the worker", worker.output().stderr + worker.output().stdout);
    found.look("logs of the board", service.output().stderr + service.output().stdout);
    expect(worker.output().stderr).toContain("worker started");
  } finally {
    monitor.disconnect();
  }
  // The marks did pass through what is allowed to hold them; else nothing was looked at.
  expect(found.payloads).toBeGreaterThan(0);
  expect(found.commands).toBeGreaterThan(100);
  expect([...found.places]).toEqual([]);
});

type Ask = <T>(method: string, path: string) => Promise<T>;

async function everyPage(ask: Ask, migration: string): Promise<void> {
  const paths = ["/", "/progress.json", "/metrics", "/healthz", "/readyz", "/session", "/api/v1/openapi.json", "/api/v1/migrations", `${migration}/diffs`, `${migration}/diffs/last`];
  for (const path of paths) await ask("GET", path);
  for (const queue of QUEUE_NAMES) {
    for (const status of ["latest", "active", "waiting", "completed", "failed", "delayed", "prioritized"]) {
      const list = await ask<{ queues?: { name: string; jobs: { id: string }[] }[] }>("GET", `/queues/api/queues?activeQueue=${queue}&status=${status}&page=1&jobsPerPage=50`);
      for (const { id } of list.queues?.find((one) => one.name === queue)?.jobs ?? []) {
        await ask("GET", `/queues/api/queues/${queue}/${encodeURIComponent(id)}`);
        await ask("GET", `/queues/api/queues/${queue}/${encodeURIComponent(id)}/logs`);
      }
    }
  }
}

async function stateRows(ctx: TestContext): Promise<Map<string, string>> {
  const tables = await ctx.target.query(`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = '${ctx.stateSchema}'`);
  const texts = new Map<string, string>();
  for (const { name } of tables as unknown as { name: string }[]) {
    const rows = await ctx.target.query(`SELECT * FROM ${ctx.stateSchema}.\`${name}\``);
    texts.set(name, JSON.stringify(rows, (_key, value: unknown) => (Buffer.isBuffer(value) ? value.toString("latin1") : isBuffer(value) ? Buffer.from(value.data).toString("latin1") : value)));
  }
  return texts;
}

/** A buffer after its own toJSON, which comes before a replacer. */
function isBuffer(value: unknown): value is { type: "Buffer"; data: number[] } {
  return typeof value === "object" && value !== null && (value as { type?: unknown }).type === "Buffer";
}

/** The payload of a batch is what its key holds: as the value of a SET, or of the script that appends it. */
function withoutPayload(args: string[]): string[] {
  const key = args.findIndex((arg) => /:batch:[^:]+:\d+$/.test(arg));
  const [command = ""] = args;
  if (key === -1) return args;
  if (/^set$/i.test(command)) return args.filter((_arg, i) => i !== key + 1);
  return /^eval(sha)?$/i.test(command) && args[2] === "5" ? args.filter((_arg, i) => i !== key + 3) : args;
}

/** Where marks were seen. */
class Findings {
  readonly places = new Set<string>();
  commands = 0;
  payloads = 0;
  private readonly marks: readonly string[];

  constructor(marks: readonly string[]) {
    this.marks = marks;
  }

  look(where: string, text: string): void {
    if (where === "Redis command") this.commands++;
    if (where === "Redis command" && text.includes(":batch:")) this.payloads++;
    for (const one of this.marks) {
      const at = text.indexOf(one);
      if (at !== -1) this.places.add(`${where}: …${text.slice(Math.max(0, at - 120), at + 20)}…`);
    }
  }
}
