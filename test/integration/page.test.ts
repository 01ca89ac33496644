/** What stands behind the progress page: events, the figures for Prometheus, readiness, read-only mode. */
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { startBoard, type RunningBoard } from "../../src/producers/board/start.js";
import type { Snapshot } from "../../src/producers/board/page/snapshot.js";
import { loadConfig } from "../../src/producers/index.js";
import { testContext, type TestContext } from "../support/context.js";
import { until } from "../support/fault-scene.js";
import { createOrders, openClient, openWorker, shopSpec } from "./client-scene.js";
import { MetricsPage } from "./metrics-page.js";

async function openBoard(ctx: TestContext, env: Record<string, string> = {}): Promise<RunningBoard & AsyncDisposable> {
  const board = await startBoard({ config: loadConfig({ ...ctx.env, DROVER_LOG_LEVEL: "silent", ...env }), port: 0, host: undefined });
  return { ...board, [Symbol.asyncDispose]: () => board.close() };
}

/** Events by name, as they come. */
async function listen(url: string): Promise<{ status: number | undefined; of: (name: string) => unknown[]; end: () => void }> {
  const call = request(new URL("/events", url)).end();
  const [answer] = (await once(call, "response")) as [IncomingMessage];
  let text = "";
  answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  answer.on("error", () => undefined);
  const of = (name: string) => text.split("\n\n").slice(0, -1).filter((event) => event.startsWith(`event: ${name}\n`)).map((event) => JSON.parse(event.slice(event.indexOf("data: ") + 6)) as unknown);
  return { status: answer.statusCode, of, end: () => call.destroy() };
}

test("events, figures and verdict of a migration, from nothing to a comparison with a difference", { timeout: 120_000 }, async () => {
  await using ctx = await testContext();
  await createOrders(ctx, 2_000);
  await using client = openClient(ctx);
  await using board = await openBoard(ctx);
  const scrape = () => MetricsPage.fetch(new URL("/metrics", board.url));
  const ready = () => fetch(new URL("/readyz", board.url));

  // nobody works: the process is well, and not ready
  expect((await fetch(new URL("/healthz", board.url))).status).toBe(200);
  const unready = await ready();
  expect(unready.status).toBe(503);
  expect(((await unready.json()) as { problems: string[] }).problems).toContain("queue copy: no worker listens");

  const events = await listen(board.url);
  const latest = () => (events.of("snapshot").at(-1) as Snapshot | undefined)?.migrations[0];
  await client.startMigration(shopSpec(ctx, { options: { chunkRows: 500 } }));
  await until(() => latest()?.phase === "planning", "the page to show the start", 10_000);
  {
    await using _ = await openWorker(ctx);
    await until(async () => (await ready()).status === 200, "the board to be ready", 10_000);
    await client.waitFor("shop", "streaming", { timeout: 60_000 });
    await ctx.source.query(`UPDATE ${ctx.schema}.orders SET note='changed' WHERE id <= 30`);
    await client.waitFor("shop", "caught-up", { timeout: 30_000 });
    await client.waitForDiff("shop", (await client.startDiff("shop")).diffId, { timeout: 30_000 });
    await until(() => latest()?.verdict.safe === true, "the verdict to be yes", 15_000);

    const page = await scrape();
    const of = { migration: "shop" };
    expect(page.value("drover_migration_phase", { ...of, phase: "streaming" })).toBe(1);
    expect(page.value("drover_migration_rows_copied_total", of)).toBe(2_000);
    expect(page.value("drover_migration_bytes_copied_total", of)).toBeGreaterThan(20_000);
    expect(page.value("drover_migration_events_applied_total", of)).toBe(30);
    expect(page.value("drover_migration_batches_applied_total", of)).toBeGreaterThan(0);
    expect(page.has("drover_migration_lag_seconds", of)).toBe(true);
    // zero when the scrape falls into the second of the last move
    expect(page.value("drover_migration_fence_age_seconds", of)).toBeGreaterThanOrEqual(0);
    expect(page.value("drover_migration_cutover_safe", of)).toBe(1);
    expect(page.value("drover_migration_diff_rows", { ...of, result: "matching" })).toBe(2_000);
    expect(page.value("drover_table_rows_copied", { ...of, table: `${ctx.schema}.orders` })).toBe(2_000);
    expect(page.value("drover_queue_workers")).toBe(5);
    expect(page.value("drover_queue_jobs", { queue: "tail", state: "active" })).toBe(1);
    expect(page.value("drover_connection_up")).toBe(2);

    await ctx.target.query(`UPDATE ${ctx.schema}.orders SET note='another secret' WHERE id = 77`);
    await client.waitForDiff("shop", (await client.startDiff("shop")).diffId, { timeout: 30_000 });
    await until(() => latest()?.verdict.safe === false, "the verdict to be no", 15_000);
    expect(latest()?.diff?.different).toEqual([expect.objectContaining({ samples: [{ kind: "mismatched", key: { id: "77" }, columns: ["note"] }] })]);
    for (const secret of ["another secret", "note 77", ctx.source.password, ctx.target.password]) {
      expect(JSON.stringify(events.of("snapshot"))).not.toContain(secret);
      expect((await scrape()).text).not.toContain(secret);
    }
    await client.stop("shop");
  }
  // who comes later gets what was seen so far
  const second = await listen(board.url);
  await until(() => second.of("history").length === 1, "the history", 5_000);
  expect((second.of("history")[0] as Record<string, unknown[]>)["shop"]?.length).toBeGreaterThan(2);
  events.end();
  second.end();
});

test("listeners are bounded; those beyond may poll", async () => {
  await using ctx = await testContext();
  await using board = await openBoard(ctx);
  const listeners = await Promise.all(Array.from({ length: 101 }, () => listen(board.url)));
  expect(listeners.filter((one) => one.status === 200)).toHaveLength(100);
  expect(listeners.filter((one) => one.status === 503)).toHaveLength(1);
  expect((await fetch(new URL("/progress.json", board.url))).status).toBe(200);
  for (const one of listeners) one.end();
  await until(async () => {
    const again = await listen(board.url);
    again.end();
    return again.status === 200;
  }, "a place to be free again", 5_000);
});

test("a read-only board shows everything and changes nothing", async () => {
  await using ctx = await testContext();
  await using board = await openBoard(ctx, { DROVER_BOARD_READ_ONLY: "on" });
  const ask = (path: string, init: RequestInit = {}) => fetch(new URL(path, board.url), init);
  expect(await (await ask("/")).text()).toContain('data-read-only="true"');
  const { queues } = (await (await ask("/queues/api/queues")).json()) as { queues: { readOnlyMode: boolean }[] };
  expect(queues.map((queue) => queue.readOnlyMode)).toEqual([true, true, true, true, true]);
  for (const [method, path] of [["PUT", "/queues/api/queues/control/pause"], ["POST", "/queues/api/queues/control/add"], ["POST", "/api/v1/migrations/shop/pause"]] as const)
    expect((await ask(path, { method })).status).toBe(403);
});
