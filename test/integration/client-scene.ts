/** A client over a test's servers, a table to move, and a worker where one is wanted. */
import { pino } from "pino";
import { DroverClient, loadConfig, type MigrationSpecInput } from "../../src/producers/index.js";
import type { Hooks } from "../../src/workers/hooks.js";
import { runWorker } from "../../src/workers/index.js";
import type { TestContext } from "../support/context.js";

export function openClient(ctx: TestContext, env: Record<string, string> = {}): DroverClient {
  return new DroverClient({ config: loadConfig({ ...ctx.env, ...env }) });
}

export async function openWorker(ctx: TestContext, hooks?: Hooks): Promise<AsyncDisposable> {
  const worker = await runWorker({ config: loadConfig(ctx.env), log: pino({ level: "silent" }), ...(hooks ? { hooks } : {}) });
  return { [Symbol.asyncDispose]: () => worker.close() };
}

export async function createOrders(ctx: TestContext, rows: number): Promise<void> {
  await ctx.source.query(`CREATE TABLE ${ctx.schema}.orders (id INT PRIMARY KEY AUTO_INCREMENT, total DECIMAL(10,2), note VARCHAR(50));
    SET SESSION cte_max_recursion_depth=10000000;
    INSERT INTO ${ctx.schema}.orders (total, note) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<${rows}) SELECT i/8, CONCAT('note ', i) FROM n`);
}

export function shopSpec(ctx: TestContext, changes: Partial<MigrationSpecInput> = {}): MigrationSpecInput {
  return { id: "shop", source: "SRC", target: "DST", tables: [{ schema: ctx.schema }], ...changes };
}

/** How long something took, in milliseconds. */
export async function timed<T>(work: () => Promise<T>): Promise<{ value: T; took: number }> {
  const began = performance.now();
  return { value: await work(), took: performance.now() - began };
}
