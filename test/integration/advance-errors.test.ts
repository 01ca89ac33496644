/** What goes wrong while a migration is moved on, beside its jobs, is told with the migration: a defect ends it, a Redis that refuses is waited for. */
import { ReplyError } from "ioredis";
import { expect, it } from "vitest";
import { DroverClient, loadConfig } from "../../src/producers/index.js";
import { createLogger } from "../../src/shared/logger.js";
import { runWorker } from "../../src/workers/index.js";
import { testContext } from "../support/context.js";
import { until } from "../support/fault-scene.js";

/** A migration whose last step throws so many times. @returns its errors as they came, and its last phase */
async function failing(error: () => Error, times: number): Promise<{ codes: string[]; phase: string }> {
  await using ctx = await testContext({ allowedKey: () => true });
  await ctx.source.query(`USE ${ctx.schema}; CREATE TABLE a (id INT PRIMARY KEY); CREATE VIEW v AS SELECT id FROM a`);
  const config = loadConfig(ctx.env);
  let left = times;
  const worker = await runWorker({ config, log: createLogger("silent"), hooks: { at: async (point) => { if (point === "object:before-create" && left-- > 0) throw error(); } } });
  const client = new DroverClient({ config });
  const codes = new Set<string>();
  let phase = "";
  try {
    await client.startMigration({ id: "m", source: "SRC", target: "DST", mode: "copy", tables: [{ schema: ctx.schema }], objects: ["views"], options: { definer: "current" } });
    await until(async () => {
      const status = await client.status("m");
      if (status.error !== null) codes.add(status.error.code);
      phase = status.phase;
      return phase === "failed" || phase === "completed";
    }, "the migration to end", 45_000);
  } finally {
    await client.close();
    await worker.close();
  }
  return { codes: [...codes], phase };
}

it("a defect", async () => {
  expect(await failing(() => new TypeError("planted"), Infinity)).toEqual({ codes: ["BUG"], phase: "failed" });
});

it("a refusal of Redis", async () => {
  const refused = () => new (ReplyError as unknown as new (message: string) => Error)("READONLY You can't write against a read only replica.");
  expect(await failing(refused, 3)).toEqual({ codes: ["REDIS_UNAVAILABLE"], phase: "completed" });
});
