/** `drover board` and its server, with real servers behind it. */
import { beforeAll, expect, test } from "vitest";
import { startBoard } from "../../src/producers/board/start.js";
import { loadConfig } from "../../src/producers/index.js";
import { testContext } from "../support/context.js";
import { drover, DroverService, ensureBuilt } from "./cli-process.js";
import { createOrders, openClient, shopSpec } from "./client-scene.js";

beforeAll(ensureBuilt, 180_000);

const html = { headers: { accept: "text/html" }, redirect: "manual" } as const;

test("progress, health, and Bull Board with all five queues; jobs show no secret", async () => {
  await using ctx = await testContext();
  await createOrders(ctx, 1);
  await using client = openClient(ctx);
  await client.startMigration(shopSpec(ctx));
  const board = await startBoard({ config: loadConfig({ ...ctx.env, DROVER_LOG_LEVEL: "silent" }), port: 0, host: undefined });
  try {
    expect(new URL(board.url).hostname).toBe("127.0.0.1");
    const get = (path: string) => fetch(new URL(path, board.url));
    expect(await (await get("/healthz")).json()).toEqual({ ok: true });
    expect(await (await get("/progress.json")).json()).toMatchObject({ migrations: [{ id: "shop", phase: "planning" }], unreachable: [] });

    const page = await get("/");
    expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
    for (const [, path] of (await page.text()).matchAll(/(?:src|href)="(\/[^"]+)"/g)) expect((await get(path ?? "")).status).toBe(200);

    const bull = await get("/queues");
    expect(bull.headers.get("content-security-policy")).toMatch(/script-src 'self';/);
    expect(await bull.text()).toContain("<title>");
    const listing = await (await get("/queues/api/queues?activeQueue=control&status=waiting")).text();
    const { queues } = JSON.parse(listing) as { queues: { name: string }[] };
    expect(queues.map((queue) => queue.name).sort()).toEqual(["apply", "control", "copy", "diff", "tail"]);
    expect(listing).toContain("shop");
    const schema = await (await get("/queues/api/queues/control/job-data-schema")).json();
    expect(schema).toMatchObject({ anyOf: expect.arrayContaining([expect.objectContaining({ title: "start", required: ["spec"] })]) });
    for (const secret of [ctx.source.password, ctx.target.password]) expect(listing).not.toContain(secret);
  } finally {
    await board.close();
  }
});

test("with a token: nothing without it but the login and the health", async () => {
  await using ctx = await testContext();
  const board = await startBoard({ config: loadConfig({ ...ctx.env, DROVER_API_TOKEN: "t0ken", DROVER_LOG_LEVEL: "silent" }), port: 0, host: "127.0.0.1" });
  try {
    const ask = (path: string, init: RequestInit = {}) => fetch(new URL(path, board.url), { redirect: "manual", ...init });
    for (const path of ["/progress.json", "/queues/api/queues", "/queues/api/queues/control/pause"]) expect((await ask(path)).status).toBe(401);
    expect((await ask("/queues/api/queues/control/pause", { method: "PUT" })).status).toBe(401);
    expect((await ask("/", html)).headers.get("location")).toBe("/login");
    expect((await ask("/healthz")).status).toBe(200);
    expect((await ask("/progress.json", { headers: { authorization: "Bearer t0ken" } })).status).toBe(200);
    const login = (token: string) => ask("/login", { method: "POST", body: new URLSearchParams({ token }) });
    expect((await login("wrong")).status).toBe(401);
    const cookie = (await login("t0ken")).headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
    expect(cookie).not.toContain("Secure");
    expect(cookie).not.toContain("t0ken");
    expect((await ask("/", { headers: { ...html.headers, cookie: cookie.split(";", 1)[0] ?? "" } })).status).toBe(200);
  } finally {
    await board.close();
  }
});

test("from the command line: prints its URL, ends on SIGTERM", async () => {
  await using ctx = await testContext();
  await using board = new DroverService(["board", "--port", "0", "--json"], { env: ctx.env });
  await board.says('"url"');
  const { url } = JSON.parse(board.output().stdout) as { url: string };
  expect((await fetch(new URL("/healthz", url))).status).toBe(200);
  expect((await fetch(new URL("/assets/board.js", url))).status).toBe(200);
  const second = await drover(["board", "--port", new URL(url).port], { env: ctx.env });
  expect(second).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("EADDRINUSE") });
  expect(await board.end()).toMatchObject({ exitCode: 0 });
});

test("without a token it does not listen on other addresses", async () => {
  await using ctx = await testContext();
  expect(await drover(["board", "--host", "0.0.0.0"], { env: ctx.env })).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("DROVER_API_TOKEN") });
});
