/** The HTTP API against real servers: every answer is checked against the OpenAPI document that the board itself gives. */
import { Validator } from "@seriousme/openapi-schema-validator";
import { Queue } from "bullmq";
import { describe, expect, test } from "vitest";
import type { DiffReport, MigrationStatus } from "../../src/producers/index.js";
import { testContext } from "../support/context.js";
import { ApiScene } from "./api-scene.js";
import { createOrders, openClient, openWorker, shopSpec } from "./client-scene.js";

interface ProblemAnswer {
  code: string;
  status: number;
  detail: string;
  problems: { path: string | null; message: string; cure: string }[];
}

test("a migration's life, and its diffs", { timeout: 120_000 }, async () => {
  await using ctx = await testContext();
  await createOrders(ctx, 1_000);
  await using api = await ApiScene.open(ctx);
  await using _worker = await openWorker(ctx);

  const validity = await new Validator().validate(structuredClone(api.document) as unknown as Record<string, unknown>);
  expect(validity).toEqual({ valid: true });

  expect((await api.ask("POST", "/check", shopSpec(ctx))).body).toMatchObject({ ok: true });
  expect(await api.ask("POST", "/migrations", shopSpec(ctx))).toMatchObject({ status: 201, body: { id: "shop", known: null, accepted: true } });
  expect(await api.ask("POST", "/migrations", shopSpec(ctx, { mode: "copy+follow" }))).toMatchObject({ status: 200, body: { id: "shop", known: expect.any(String) } });
  expect(await api.ask("POST", "/migrations?preflight=false", shopSpec(ctx, { mode: "copy" }))).toMatchObject({ status: 409, body: { code: "MIGRATION_CONFLICT", cure: expect.stringContaining("drover remove") } });

  expect((await api.ask("POST", "/migrations/shop/wait", { for: "streaming", timeoutSeconds: 50 })).body).toMatchObject({ reached: true, status: { phase: "streaming", tables: [{ rowsCopied: 1_000 }] } });
  expect((await api.ask<{ migrations: MigrationStatus[] }>("GET", "/migrations")).body).toMatchObject({ migrations: [{ id: "shop" }], unreachable: [] });
  expect((await api.ask("GET", "/migrations/shop")).body).toMatchObject({ id: "shop", phase: "streaming" });

  expect((await api.ask("POST", "/migrations/shop/pause")).body).toMatchObject({ phase: "paused" });
  await ctx.source.query(`UPDATE ${ctx.schema}.orders SET total = total + 1 WHERE id <= 10`);
  // What it waited for is still the same at the second request, however the source has gone on.
  const early = await api.ask<{ reached: boolean; position: string }>("POST", "/migrations/shop/wait", { for: "caught-up", timeoutSeconds: 0.2 });
  expect(early.body).toMatchObject({ reached: false, status: { phase: "paused" } });
  await ctx.source.query(`UPDATE ${ctx.schema}.orders SET total = total + 1 WHERE id <= 10`);
  expect((await api.ask("POST", "/migrations/shop/resume")).status).toBe(200);
  expect((await api.ask("POST", "/migrations/shop/wait", { for: "caught-up", position: early.body.position, timeoutSeconds: 50 })).body).toMatchObject({ reached: true, position: early.body.position });
  expect((await api.ask("POST", "/migrations/shop/wait", { for: "caught-up", timeoutSeconds: 50 })).body).toMatchObject({ reached: true });

  await ctx.target.query(`UPDATE ${ctx.schema}.orders SET note='other' WHERE id=42`);
  const { body: started } = await api.ask<{ diffId: string }>("POST", "/migrations/shop/diffs", { maxSamples: 5 });
  const one = `/migrations/shop/diffs/${started.diffId}`;
  const ended = await api.ask<{ report: DiffReport }>("POST", `${one}/wait`, { timeoutSeconds: 50 });
  expect(ended.body).toMatchObject({ ended: true, report: { hasMismatch: true, tables: [{ samples: [{ key: { id: "42" }, columns: ["note"] }] }] } });
  expect(JSON.stringify(ended.body)).not.toContain("note 42");
  expect((await api.ask("GET", "/migrations/shop/diffs/last")).body).toEqual(ended.body.report);
  expect((await api.ask("GET", `${one}/repair`)).status).toBe(404);
  expect((await api.ask("POST", `${one}/repair`, { dryRun: false })).status).toBe(202);
  await expect.poll(async () => (await api.ask("GET", `${one}/repair`)).body, { timeout: 20_000, interval: 200 }).toMatchObject({ state: "completed", repaired: 1 });
  expect((await api.ask("POST", `${one}/stop`)).body).toMatchObject({ code: "WRONG_PHASE" });
  const second = await api.ask<{ diffId: string }>("POST", "/migrations/shop/diffs");
  expect((await api.ask("POST", `/migrations/shop/diffs/${second.body.diffId}/wait`)).body).toMatchObject({ ended: true, report: { hasMismatch: false } });
  expect((await api.ask<{ diffs: unknown[] }>("GET", "/migrations/shop/diffs")).body.diffs).toHaveLength(2);
  expect((await api.ask("DELETE", one)).body).toMatchObject({ diffId: started.diffId });
  expect((await api.ask("GET", one)).body).toMatchObject({ code: "NOT_FOUND" });

  expect((await api.ask("DELETE", "/migrations/shop")).body).toMatchObject({ status: 409, code: "WRONG_PHASE" });
  expect((await api.ask("GET", "/migrations/shop/cutover")).status).toBe(404);
  expect((await api.ask("POST", "/migrations/shop/cutover", { maxLag: -1, dryrun: true })).body).toMatchObject({ status: 422, problems: [{ path: "maxLag" }, { path: "dryrun" }] });
  expect(await api.ask("POST", "/migrations/shop/cutover", { dryRun: true })).toMatchObject({ status: 200, body: { state: "checked", ready: true } });
  expect(await api.ask("POST", "/migrations/shop/cutover")).toMatchObject({ status: 202, body: { dryRun: false } });
  await expect.poll(async () => (await api.ask("GET", "/migrations/shop/cutover")).body, { timeout: 40_000, interval: 300 }).toMatchObject({ state: "completed" });
  expect((await api.ask("POST", "/migrations/shop/cutover/abort")).status).toBe(409);
  expect((await api.ask("POST", "/migrations/shop/wait", { for: "streaming" })).body).toMatchObject({ status: 409 });
  expect((await api.ask("DELETE", "/migrations/shop")).body).toMatchObject({ id: "shop" });
  expect((await api.ask("GET", "/migrations/shop")).body).toMatchObject({ status: 404, code: "NOT_FOUND", cure: expect.any(String) });
});

describe("one validation, whichever way a spec comes", () => {
  const wrong = { id: "Shop", source: "SRC", target: "DST", colour: "red", tables: [{ schema: "s", include: ["*"], where: "a" }], options: { chunkRows: 0, chunkBytes: "much" } };
  const paths = ["id", "tables.0.where", "options.chunkRows", "options.chunkBytes", "colour"];

  test("a bad spec: all problems at once, each with its path and cure, the same for the client, the API and a raw job", async () => {
    await using ctx = await testContext();
    await using api = await ApiScene.open(ctx);
    await using _worker = await openWorker(ctx);
    await using client = openClient(ctx);
    const { status, body } = await api.ask<ProblemAnswer>("POST", "/migrations", wrong);
    expect({ status, code: body.code }).toEqual({ status: 422, code: "SPEC_INVALID" });
    expect(new Set(body.problems.map((p) => p.path))).toEqual(new Set(paths));
    for (const { cure } of body.problems) expect(cure).not.toBe("");
    const thrown: unknown = await client.startMigration(wrong as never).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: "SPEC_INVALID", problems: body.problems });

    const queue = new Queue("control", { connection: { url: ctx.redisUrl }, prefix: ctx.prefix });
    try {
      const began = Date.now();
      const job = await queue.add("start", { spec: wrong });
      await expect.poll(() => job.getState(), { timeout: 10_000, interval: 50 }).toBe("failed");
      expect(Date.now() - began).toBeLessThan(5_000);
      // The reason is what Bull Board shows with the job.
      const shown = (await (await fetch(new URL("/queues/api/queues?activeQueue=control&status=failed", api.url))).json()) as { queues: { name: string; jobs: { id: string; failedReason: string }[] }[] };
      const failed = shown.queues.find((one) => one.name === "control")?.jobs.find((one) => one.id === job.id);
      const reason = JSON.parse(failed?.failedReason ?? "{}") as ProblemAnswer;
      expect(reason.code).toBe("SPEC_INVALID");
      expect(new Set(reason.problems.map((p) => p.path?.replace(/^spec\./, "")))).toEqual(new Set(paths));
      for (const data of [undefined, null, [], "text", {}, { spec: null }]) {
        const bad = await queue.add("start", data);
        await expect.poll(() => bad.getState(), { timeout: 10_000, interval: 50 }).toBe("failed");
      }
      const unknown = await queue.add("launch", {});
      await expect.poll(() => unknown.getState(), { timeout: 10_000, interval: 50 }).toBe("failed");
      await using board = await ApiScene.open(ctx);
      expect((await board.ask("GET", "/migrations")).status).toBe(200);
    } finally {
      await queue.close();
    }
  });

  test("without a worker a start is there once, and another spec is a conflict all the same", async () => {
    await using ctx = await testContext();
    await createOrders(ctx, 1);
    await using api = await ApiScene.open(ctx, { DROVER_CONNECTION_OTHER: ctx.target.url });
    expect(await api.ask("POST", "/migrations", shopSpec(ctx))).toMatchObject({ status: 201, body: { accepted: false } });
    expect(await api.ask("POST", "/migrations", shopSpec(ctx))).toMatchObject({ status: 200, body: { known: "planning" } });
    expect(await api.ask("POST", "/migrations", shopSpec(ctx, { mode: "copy" }))).toMatchObject({ status: 409 });
    // Blind: a client that knows no server finds the start in the queue.
    await using blind = openClient(ctx, { DROVER_CONNECTION_SRC: "", DROVER_CONNECTION_DST: "" });
    expect(await blind.startMigration(shopSpec(ctx))).toMatchObject({ known: "planning", accepted: false });
    await expect(blind.startMigration(shopSpec(ctx, { mode: "copy" }))).rejects.toMatchObject({ code: "MIGRATION_CONFLICT" });
    const queue = new Queue("control", { connection: { url: ctx.redisUrl }, prefix: ctx.prefix });
    try {
      expect(await queue.getJobCountByTypes("waiting", "prioritized")).toBe(1);
    } finally {
      await queue.close();
    }
  });

  test("what is no request at all", async () => {
    await using ctx = await testContext();
    await using api = await ApiScene.open(ctx);
    const post = (body: string, type = "application/json") => api.ask("POST", "/migrations", undefined, { body, headers: { "content-type": type } });
    expect((await post("{")).body).toMatchObject({ status: 400, code: "REQUEST_INVALID" });
    expect((await post('{"__proto__": {"id": "x"}}')).status).toBe(400);
    expect((await post("id: shop", "text/plain")).body).toMatchObject({ status: 415, code: "MEDIA_TYPE" });
    for (const body of ["null", "[]", "7", '"text"']) expect((await post(body)).body).toMatchObject({ status: 422, code: "SPEC_INVALID" });
    expect((await api.ask("POST", "/migrations?colour=red", shopSpec(ctx))).body).toMatchObject({ status: 422, problems: [{ path: "colour" }] });
    for (const id of ["no", "N%20o", "%00", "a".repeat(100)]) expect((await api.ask("GET", `/migrations/${id}`)).status).toBeGreaterThanOrEqual(400);
    expect((await api.ask("POST", "/migrations/no/wait", { for: "streaming", timeoutSeconds: 3600 })).body).toMatchObject({ code: "SPEC_INVALID", problems: [{ path: "timeoutSeconds" }] });
    const nowhere = await fetch(new URL("/api/v1/nowhere", api.url));
    expect(await nowhere.json()).toMatchObject({ status: 404, code: "NO_SUCH_ROUTE" });
    expect(nowhere.headers.get("content-type")).toContain("application/problem+json");
  });
});
