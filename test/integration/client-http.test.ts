/** What both clients and the API can do beside the life of `api.test.ts`: diffs that may be asked for twice, schedules, a cut-over taken back. */
import { Redis } from "ioredis";
import { expect, expectTypeOf, test } from "vitest";
import { DroverHttpClient, type DroverClient } from "../../src/producers/index.js";
import type { Hooks } from "../../src/workers/hooks.js";
import { testContext, type TestContext } from "../support/context.js";
import { cli } from "../unit/producers/cli/fake-terminal.js";
import { ApiScene } from "./api-scene.js";
import { createOrders, openClient, openWorker, shopSpec } from "./client-scene.js";

const DIFFS = "/migrations/shop/diffs";
const SCHEDULES = "/migrations/shop/diff-schedules";

test("the client over HTTP has every call of DroverClient", () => {
  // Where a source is, waits by HTTP are told in their answers; a request leaves nothing open.
  expectTypeOf<Exclude<keyof DroverClient, keyof DroverHttpClient>>().toEqualTypeOf<"close" | "sourcePosition" | typeof Symbol.asyncDispose>();
});

test("a diff may be asked for again: the same id with the same options is the same diff, whoever asks and whatever was lost", { timeout: 180_000 }, async () => {
  await using ctx = await testContext();
  await createOrders(ctx, 200);
  await using api = await ApiScene.open(ctx);
  await using client = openClient(ctx);
  const http = new DroverHttpClient({ url: api.url });
  {
    await using _worker = await openWorker(ctx);
    await client.startMigration(shopSpec(ctx));
    await client.waitFor("shop", "streaming", { timeout: 60_000 });
    const first = await api.ask("POST", DIFFS, { diffId: "nightly", maxSamples: 5 });
    expect(first).toMatchObject({ status: 201, body: { id: "shop", diffId: "nightly", known: null } });
    expect(first.headers.get("location")).toBe("/api/v1/migrations/shop/diffs/nightly");
    expect((await api.ask("POST", `${DIFFS}/nightly/wait`, { timeoutSeconds: 50 })).body).toMatchObject({ ended: true });
    expect(await api.ask("POST", DIFFS, { diffId: "nightly", maxSamples: 5 })).toMatchObject({ status: 200, body: { diffId: "nightly", known: "completed" } });
    expect((await api.ask("POST", DIFFS, { diffId: "nightly" })).body).toMatchObject({ status: 409, code: "DIFF_CONFLICT", type: "urn:drover:problem:diff-conflict", cure: expect.stringContaining("drover diff delete") });
    for (const diffId of ["last", "No Id", ""]) expect((await api.ask("POST", DIFFS, { diffId })).body).toMatchObject({ status: 422, code: "SPEC_INVALID", problems: [{ path: "diffId" }] });
    expect((await api.ask("POST", DIFFS, { diffid: "x" })).body).toMatchObject({ status: 422, problems: [{ path: "diffid" }] });
    // All at once: one of them is the first, and the others hear of it.
    const many = await Promise.all(Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? http : client).startDiff("shop", {}, { diffId: "once" })));
    expect(many.map(({ diffId }) => diffId)).toEqual(Array(6).fill("once"));
    expect(many.filter(({ known }) => known === null)).toHaveLength(1);
    await http.waitForDiff("shop", "once", { timeout: 60_000 });
    expect((await http.listDiffs("shop", { state: "completed" })).map(({ diffId }) => diffId)).toEqual(["once", "nightly"]);
    expect(await http.listDiffs("shop", { limit: 1 })).toHaveLength(1);
    expect((await api.ask("GET", `${DIFFS}?limit=0&colour=red`)).body).toMatchObject({ status: 422 });
    // A raw job of another program decides nothing else.
    await expect(client.startDiff("shop", { onlyKeys: true }, { diffId: "once" })).rejects.toMatchObject({ code: "DIFF_CONFLICT" });
    const again = await cli(["diff", "start", "shop", "--id", "once", "--json"], { environment: ctx.env });
    expect(again).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("is there already with these very options (completed)") });
    expect(JSON.parse(again.stdout)).toEqual({ diffId: "once" });
    expect(await cli(["diff", "start", "shop", "--id", "once", "--only-keys"], { environment: ctx.env })).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("DIFF_CONFLICT") });
  }
  // Nothing of it is Redis's, and no worker is needed to hear that it is done.
  await emptyRedis(ctx);
  expect(await api.ask("POST", DIFFS, { diffId: "nightly", maxSamples: 5 })).toMatchObject({ status: 200, body: { known: "completed" } });
  await expect(http.startDiff("shop", { maxSamples: 6 }, { diffId: "nightly" })).rejects.toMatchObject({ code: "DIFF_CONFLICT", cure: expect.stringContaining("drover diff delete") });
  await using _worker = await openWorker(ctx);
  // Forgotten, the id is free.
  await http.deleteDiff("shop", "nightly");
  expect(await http.startDiff("shop", {}, { diffId: "nightly" })).toEqual({ diffId: "nightly", known: null });
  await client.stop("shop");
});

test("schedules of diffs, and a cut-over that is taken back, over HTTP", { timeout: 180_000 }, async () => {
  await using ctx = await testContext();
  await createOrders(ctx, 200);
  await using api = await ApiScene.open(ctx);
  await using client = openClient(ctx);
  const http = new DroverHttpClient({ url: api.url });
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  let repairOn = (): void => undefined;
  const repairGate = new Promise<void>((resolve) => (repairOn = resolve));
  const hooks: Hooks = {
    at: async (point) => {
      if (point === "cutover:step") await gate;
      if (point === "diff:before-repair") await repairGate;
    },
  };
  await using _worker = await openWorker(ctx, hooks);
  await client.startMigration(shopSpec(ctx));
  await client.waitFor("shop", "streaming", { timeout: 60_000 });

  expect((await api.ask("GET", SCHEDULES)).body).toEqual({ schedules: [] });
  const settings = { every: 3_600_000, keep: 3, options: { maxSamples: 1 } };
  expect(await api.ask("PUT", `${SCHEDULES}/hourly`, settings)).toMatchObject({ status: 200, body: { id: "shop", name: "hourly", every: 3_600_000, keep: 3, options: { maxSamples: 1 } } });
  expect((await api.ask("PUT", `${SCHEDULES}/hourly`, settings)).status).toBe(200);
  expect(await http.scheduleDiff("shop", { name: "hourly", every: 7_200_000 })).toMatchObject({ every: 7_200_000, keep: 10 });
  expect(await http.scheduleDiff("shop", { every: 86_400_000 })).toMatchObject({ name: "default" });
  await expect.poll(async () => (await api.ask("GET", `${SCHEDULES}/hourly`)).body, { timeout: 30_000, interval: 200 }).toMatchObject({ every: 7_200_000, lastDiffId: expect.stringMatching(/^hourly-\d{14}$/) });
  expect((await http.listDiffSchedules("shop")).map(({ name }) => name)).toEqual(["default", "hourly"]);
  expect((await api.ask("PUT", `${SCHEDULES}/Bad`, { every: 1, colour: "red" })).body).toMatchObject({ status: 422, problems: [{ path: "every" }, { path: "colour" }] });
  expect((await api.ask("PUT", `${SCHEDULES}/Bad`, { every: 1_000 })).body).toMatchObject({ status: 422, problems: [{ path: "name" }] });
  expect((await api.ask("PUT", `${SCHEDULES}/x`, { every: 1_000, options: { tables: ["no.such"] } })).body).toMatchObject({ status: 404 });
  expect((await api.ask("DELETE", `${SCHEDULES}/hourly`)).body).toEqual({ id: "shop", name: "hourly" });
  expect((await api.ask("DELETE", `${SCHEDULES}/hourly`)).body).toMatchObject({ status: 404, code: "NOT_FOUND" });
  expect((await api.ask("GET", `${SCHEDULES}/hourly`)).body).toMatchObject({ status: 404 });
  await http.unscheduleDiff("shop");
  expect(await client.listDiffSchedules("shop")).toEqual([]);
  await expect(http.listDiffSchedules("nope")).rejects.toMatchObject({ code: "NOT_FOUND" });

  await ctx.target.query(`UPDATE ${ctx.schema}.orders SET note = 'other' WHERE id = 7`);
  const { diffId } = await http.startDiff("shop");
  await http.waitForDiff("shop", diffId, { timeout: 60_000 });
  expect(await http.showRepair("shop", diffId)).toBeNull();
  expect(await http.startRepair("shop", "last")).toEqual({ diffId });
  expect(await http.startRepair("shop", "last")).toEqual({ diffId });
  await expect(http.startRepair("shop", "last", { dryRun: true })).rejects.toMatchObject({ code: "WRONG_PHASE", message: expect.stringContaining("changes rows") });
  repairOn();
  await expect.poll(() => http.showRepair("shop", diffId), { timeout: 30_000 }).toMatchObject({ dryRun: false, state: "completed", repaired: 1 });
  await expect(http.showRepair("shop", "nope")).rejects.toMatchObject({ code: "NOT_FOUND" });

  expect(await http.showCutover("shop")).toBeNull();
  await expect(http.showCutover("nope")).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(http.abortCutover("shop")).rejects.toMatchObject({ code: "NOT_FOUND" });
  await http.waitForDiff("shop", (await http.startDiff("shop")).diffId, { timeout: 60_000 });
  expect(await http.cutover("shop", {}, { dryRun: true })).toMatchObject({ state: "checked", ready: true });
  expect(await http.startCutover("shop", { maxLag: 3_600_000, timeout: 100_000 })).toMatchObject({ state: "running" });
  const seen = new Set<string>();
  const waiting = http.cutover("shop", { maxLag: 3_600_000 }, { timeout: 90_000, onReport: ({ state }) => seen.add(state) });
  const abort = http.abortCutover("shop");
  await expect.poll(async () => (await client.showCutover("shop"))?.state, { timeout: 30_000 }).toBe("undoing");
  open();
  expect(await abort).toMatchObject({ state: "failed", error: { code: "ABORTED" } });
  expect(await waiting).toMatchObject({ state: "failed" });
  expect(seen).toContain("failed");
  expect((await api.ask("GET", "/migrations/shop/cutover")).body).toMatchObject({ state: "failed" });
  expect(await http.waitFor("shop", "streaming", { timeout: 60_000 })).toMatchObject({ phase: "streaming" });
  await http.stop("shop");
});

async function emptyRedis(ctx: TestContext): Promise<void> {
  const redis = new Redis(ctx.redisUrl);
  await redis.unlink(...(await redis.keys(`${ctx.prefix}:*`)));
  redis.disconnect();
}
