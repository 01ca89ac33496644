/** `DroverClient` against real servers, with and without a worker. */
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { DroverClient } from "../../src/producers/index.js";
import { testContext } from "../support/context.js";
import { signalUsers } from "../support/signal-users.js";
import { createOrders, openClient, openWorker, shopSpec, timed } from "./client-scene.js";

/** Nothing listens there. */
const NOWHERE = "127.0.0.1:1";

describe("without a worker", () => {
  test("a start is queued, shows as planning with why nothing moves, and can be waited for in vain", async () => {
    await using ctx = await testContext();
    await createOrders(ctx, 10);
    await using client = openClient(ctx);
    expect(await client.startMigration(shopSpec(ctx), { preflight: true })).toMatchObject({ id: "shop", accepted: false });
    const status = await client.status("shop");
    expect(status).toMatchObject({ id: "shop", phase: "planning", tables: [], error: null, stuck: { reason: expect.stringContaining("no worker has taken up the start command") } });
    expect((await client.listMigrations()).migrations).toEqual([status]);
    await expect(client.waitFor("shop", "copied", { timeout: 500 })).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  test("a start that Redis lost before a worker came is worked on all the same", async () => {
    await using ctx = await testContext();
    await createOrders(ctx, 10);
    await using client = openClient(ctx);
    await client.startMigration(shopSpec(ctx));
    const redis = new Redis(ctx.redisUrl);
    const keys = await redis.keys(`${ctx.prefix}:*`);
    expect(await redis.unlink(...keys)).toBeGreaterThan(0);
    redis.disconnect();
    await using _worker = await openWorker(ctx);
    await client.waitFor("shop", "copied", { timeout: 30_000 });
    await client.stop("shop");
  });

  test("an unknown migration is NOT_FOUND; on a server that does not answer it may be", async () => {
    await using ctx = await testContext();
    await using client = openClient(ctx);
    await expect(client.status("nope")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(client.pause("nope")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await using other = openClient(ctx, { DROVER_CONNECTION_OLD: `mysql://u:p@${NOWHERE}/` });
    await expect(other.status("nope")).rejects.toMatchObject({ code: "CONNECTION_LOST", problems: [{ code: "connection-OLD" }] });
    expect(await other.listMigrations()).toMatchObject({ migrations: [], unreachable: [{ connection: "OLD" }] });
  });

  test("Redis that is not there: commands say so within seconds", async () => {
    await using ctx = await testContext();
    await createOrders(ctx, 1);
    await using client = openClient(ctx, { DROVER_REDIS_URL: `redis://:s3cret@${NOWHERE}` });
    const { took } = await timed(async () => {
      const error: unknown = await client.startMigration(shopSpec(ctx)).catch((e: unknown) => e);
      expect(error).toMatchObject({ code: "REDIS_UNAVAILABLE", message: expect.not.stringContaining("s3cret") });
    });
    expect(took).toBeLessThan(15_000);
  });

  test("a signal that lives as long as the caller's process collects nothing, call by call", async () => {
    await using ctx = await testContext();
    await createOrders(ctx, 10);
    await using client = openClient(ctx);
    await client.startMigration(shopSpec(ctx));
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on("warning", onWarning);
    const { signal } = new AbortController();
    for (let i = 0; i < 2; i++) {
      await client.status("shop", { signal });
      await client.listMigrations({ signal });
      await client.check(shopSpec(ctx), { signal });
      await client.listDiffs("shop", { signal });
      await client.sourcePosition("shop", { signal });
      await client.status("nowhere", { signal }).catch(() => undefined);
      await client.waitFor("shop", "copied", { timeout: 200, signal }).catch(() => undefined);
      await client.pause("nowhere", { signal }).catch(() => undefined);
    }
    process.off("warning", onWarning);
    expect(signalUsers(signal)).toBe(0);
    expect(warnings).toEqual([]);
  }, 180_000);

  test("options of its own, without an environment; a wrong one is said", async () => {
    await using ctx = await testContext();
    await using client = new DroverClient({ redisUrl: ctx.redisUrl, prefix: ctx.prefix, stateSchema: ctx.stateSchema, connections: { src: ctx.source.url, dst: ctx.target.url } });
    expect(await client.listMigrations()).toEqual({ migrations: [], unreachable: [] });
    expect(() => new DroverClient({ connections: { src: "nonsense" } })).toThrow("connection SRC");
    await expect(client.startMigration({ id: "x", source: "SRC", target: "DST", tables: [], colour: 1 } as never)).rejects.toMatchObject({ code: "SPEC_INVALID" });
  });
});

describe("with a worker", () => {
  test("a migration's life", async () => {
    await using ctx = await testContext();
    await createOrders(ctx, 5_000);
    await using client = openClient(ctx);
    await using _worker = await openWorker(ctx);
    expect(await client.startMigration(shopSpec(ctx), { preflight: true })).toMatchObject({ id: "shop", accepted: true });

    const seen = new Set<string>();
    const copied = await client.waitFor("shop", "copied", { timeout: 40_000, onStatus: (status) => seen.add(status.phase) });
    expect(copied.tables).toMatchObject([{ source: `${ctx.schema}.orders`, target: `${ctx.schema}.orders`, phase: "copied", rowsCopied: 5_000, rowsEstimated: 5_000 }]);
    expect(seen.size).toBeGreaterThan(0);

    await ctx.source.query(`UPDATE ${ctx.schema}.orders SET total = total + 1 WHERE id <= 1000`);
    const caughtUp = await client.waitFor("shop", "caught-up", { timeout: 40_000 });
    expect(caughtUp).toMatchObject({ phase: expect.stringMatching(/catching-up|streaming/), etaSeconds: 0, error: null });
    const sum = (side: typeof ctx.source) => side.query(`SELECT COUNT(*) AS n, SUM(total) AS total FROM ${ctx.schema}.orders`);
    expect(await sum(ctx.target)).toEqual(await sum(ctx.source));

    expect(await client.pause("shop")).toMatchObject({ phase: "paused" });
    expect(await client.pause("shop")).toMatchObject({ phase: "paused" });
    expect((await client.resume("shop")).phase).toMatch(/catching-up|streaming/);
    expect((await client.waitFor("shop", "streaming", { timeout: 40_000 })).stuck).toBeNull();

    // The same again is the same migration; with another spec it is refused, by whoever is asked.
    expect(await client.startMigration(shopSpec(ctx, { mode: "copy+follow" }))).toMatchObject({ id: "shop", accepted: true });
    await expect(client.startMigration(shopSpec(ctx, { mode: "copy" }))).rejects.toMatchObject({ code: "MIGRATION_CONFLICT" });
    await using blind = new DroverClient({ redisUrl: ctx.redisUrl, prefix: ctx.prefix });
    expect(await blind.startMigration(shopSpec(ctx))).toMatchObject({ id: "shop", accepted: true });
    await expect(blind.startMigration(shopSpec(ctx, { mode: "copy" }))).rejects.toMatchObject({ code: "MIGRATION_CONFLICT" });

    await expect(client.remove("shop")).rejects.toMatchObject({ code: "WRONG_PHASE" });
    expect(await client.stop("shop")).toMatchObject({ phase: "stopped" });
    await expect(client.waitFor("shop", "streaming", { timeout: 5_000 })).rejects.toMatchObject({ code: "MIGRATION_FAILED" });
    expect(await client.waitFor("shop", "stopped", { timeout: 5_000 })).toMatchObject({ phase: "stopped" });
    expect(await client.remove("shop")).toMatchObject({ phase: "stopped" });
    await expect(client.status("shop")).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await sum(ctx.target)).toEqual(await sum(ctx.source));
  });

  test("diffs: equal, different, repaired", async () => {
    await using ctx = await testContext();
    await createOrders(ctx, 2_000);
    await using client = openClient(ctx);
    await using _worker = await openWorker(ctx);
    await client.startMigration(shopSpec(ctx));
    await client.waitFor("shop", "streaming", { timeout: 40_000 });

    const first = await client.startDiff("shop");
    expect(await client.waitForDiff("shop", first.diffId, { timeout: 40_000 })).toMatchObject({ id: "shop", diffId: first.diffId, state: "completed", hasMismatch: false });

    await ctx.target.query(`UPDATE ${ctx.schema}.orders SET note='other' WHERE id=42; DELETE FROM ${ctx.schema}.orders WHERE id=43`);
    const second = await client.startDiff("shop", { tables: [`${ctx.schema}.orders`], maxSamples: 5 });
    const report = await client.waitForDiff("shop", second.diffId, { timeout: 40_000 });
    expect(report).toMatchObject({ hasMismatch: true, tables: [{ mismatched: 1, missingOnTarget: 1, extraOnTarget: 0, inconclusive: 0 }] });
    expect(report.tables[0]?.samples).toEqual(expect.arrayContaining([{ kind: "mismatched", key: { id: "42" }, columns: ["note"] }]));
    expect(await client.showDiff("shop")).toEqual(report);
    const withValues = await client.showDiff("shop", "last", { showValues: true });
    expect(withValues.tables[0]?.samples.find((s) => s.key["id"] === "42")?.values).toMatchObject({ source: { note: "note 42" }, target: { note: "other" } });
    expect((await client.listDiffs("shop")).map((d) => d.diffId)).toEqual([second.diffId, first.diffId]);

    expect(await client.repairDiff("shop", second.diffId, { timeout: 40_000 })).toMatchObject({ state: "completed", repaired: 2 });
    const third = await client.startDiff("shop");
    expect(await client.waitForDiff("shop", third.diffId, { timeout: 40_000 })).toMatchObject({ hasMismatch: false });

    await expect(client.startDiff("shop", { tables: ["no.such"] })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(client.startDiff("shop", { maxSamples: -1 })).rejects.toMatchObject({ code: "SPEC_INVALID" });
    // U+0127 cut to one byte is a quote: no such thing gets into a statement.
    for (const call of [() => client.showRepair("shop", "\u0127 OR 1=1 -- "), () => client.showDiff("shop", "\u0127"), () => client.stopDiff("shop", "\u0127"), () => client.deleteDiff("shop", "'")])
      await expect(call()).rejects.toMatchObject({ code: "SPEC_INVALID" });
    await client.deleteDiff("shop", first.diffId);
    await expect(client.showDiff("shop", first.diffId)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await client.stop("shop");
  });

  test("a source that is gone: the status comes all the same, without its position and lag", async () => {
    await using ctx = await testContext();
    await createOrders(ctx, 100);
    await using client = openClient(ctx);
    await using _worker = await openWorker(ctx);
    await client.startMigration(shopSpec(ctx));
    await client.waitFor("shop", "streaming", { timeout: 40_000 });
    await using other = openClient(ctx, { DROVER_CONNECTION_SRC: `mysql://u:p@${NOWHERE}/` });
    const { value, took } = await timed(() => other.status("shop"));
    expect(value).toMatchObject({ phase: "streaming", position: { source: null }, lagSeconds: null });
    expect(took).toBeLessThan(10_000);
    await client.stop("shop");
  });

  test("a raw job that is wrong is refused with the same error, and the status says why", async () => {
    await using ctx = await testContext();
    await using client = openClient(ctx);
    await using _worker = await openWorker(ctx);
    const queue = new Queue("control", { connection: { url: ctx.redisUrl }, prefix: ctx.prefix });
    try {
      await queue.add("start", { spec: { ...shopSpec(ctx), colour: "red" } });
      await expect.poll(() => client.status("shop").catch((e: unknown) => e), { timeout: 20_000, interval: 200 }).toMatchObject({ code: "NOT_FOUND", message: expect.stringMatching(/there is no migration "shop": its start at .* was refused/), problems: [{ message: expect.stringContaining("colour") }] });
    } finally {
      await queue.close();
    }
  });
});
