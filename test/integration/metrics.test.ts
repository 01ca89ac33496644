/** `/metrics`: read by a parser of the format, and compared with what a migration really did. */
import { pino } from "pino";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/producers/index.js";
import { runWorker } from "../../src/workers/index.js";
import { testContext } from "../support/context.js";
import { createOrders, openClient, shopSpec } from "./client-scene.js";
import { MetricsPage } from "./metrics-page.js";

test("a worker's figures are those of the migration that it carried out", async () => {
  await using ctx = await testContext();
  await createOrders(ctx, 3_000);
  await using client = openClient(ctx);
  const worker = await runWorker({ config: loadConfig({ ...ctx.env, DROVER_WORKER_PORT: "0" }), log: pino({ level: "silent" }) });
  await using _ = { [Symbol.asyncDispose]: () => worker.close() };
  const scrape = () => MetricsPage.fetch(new URL("/metrics", worker.monitoringUrl ?? ""));
  expect((await scrape()).value("drover_worker_rows_written_total")).toBe(0);

  await client.startMigration(shopSpec(ctx, { options: { chunkRows: 500 } }));
  await client.waitFor("shop", "streaming", { timeout: 30_000 });
  await ctx.source.query(`UPDATE ${ctx.schema}.orders SET note='changed' WHERE id <= 40`);
  await client.waitFor("shop", "caught-up", { timeout: 30_000 });
  await client.waitForDiff("shop", (await client.startDiff("shop")).diffId, { timeout: 30_000 });

  const page = await scrape();
  expect(page.value("drover_worker_rows_written_total", { work: "copy" })).toBe(3_000);
  expect(page.value("drover_worker_rows_written_total", { work: "apply" })).toBeGreaterThanOrEqual(40);
  expect(page.value("drover_worker_bytes_total", { work: "copy" })).toBeGreaterThan(3_000 * 10);
  expect(page.value("drover_worker_bytes_total", { work: "tail" })).toBeGreaterThan(0);
  const chunks = page.value("drover_worker_chunks_total", { work: "copy" });
  expect(chunks).toBeGreaterThanOrEqual(6);
  expect(page.value("drover_worker_chunk_seconds", { step: "read" })).toBe(chunks);
  expect(page.value("drover_worker_chunk_seconds", { step: "write" })).toBe(chunks);
  expect(page.value("drover_worker_chunks_total", { work: "diff" })).toBeGreaterThan(0);
  expect(page.value("drover_worker_batch_apply_seconds")).toBe(page.value("drover_worker_batches_total", { work: "apply" }));
  expect(page.value("drover_worker_statement_seconds", { role: "source", kind: "read" })).toBeGreaterThan(chunks);
  expect(page.value("drover_worker_statement_seconds", { role: "target", kind: "load" })).toBeGreaterThan(0);
  expect(page.value("drover_worker_sessions_opened_total")).toBeGreaterThanOrEqual(page.value("drover_worker_sessions"));
  expect(page.value("drover_worker_jobs_total", { queue: "copy", outcome: "done" })).toBeGreaterThanOrEqual(chunks);
  // the tail and the applier hold their leases
  expect(page.value("drover_worker_jobs_active", { queue: "tail" })).toBe(1);
  expect(page.has("drover_worker_jobs_total", { outcome: "failed" })).toBe(false);
  expect(page.has("process_cpu_seconds_total")).toBe(true);
  for (const secret of [ctx.source.password, ctx.target.password, "changed", "note 17", ctx.schema]) expect(page.text).not.toContain(secret);
  await client.stop("shop");
});
