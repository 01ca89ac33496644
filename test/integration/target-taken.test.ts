/** One target table is written by one migration: two that begin at once, tables that join later, and names that only look alike. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { DroverClient, loadConfig, type MigrationSpecInput } from "../../src/producers/index.js";
import { createLogger } from "../../src/shared/logger.js";
import { runWorker } from "../../src/workers/index.js";
import { testContext, type TestContext } from "../support/context.js";
import { numbered } from "./ddl-scene.js";

async function open(ctx: TestContext, workers = 1) {
  const config = loadConfig(ctx.env);
  const client = new DroverClient({ config });
  const running = await Promise.all(Array.from({ length: workers }, () => runWorker({ config, log: createLogger("silent") })));
  return {
    client,
    start: (id: string, tables: MigrationSpecInput["tables"], spec: Partial<MigrationSpecInput> = {}) => client.startMigration({ id, source: "SRC", target: "DST", tables, ...spec }),
    async [Symbol.asyncDispose]() {
      for (const worker of running) await worker.close();
      await client.close();
    },
  };
}

async function settled(client: DroverClient, id: string): Promise<string> {
  for (let i = 0; i < 300; i++) {
    const { phase, error } = await client.status(id);
    if (phase === "failed") return `${error?.code}: ${error?.message}`;
    if (phase === "stopped" || phase === "completed" || phase === "streaming") return phase;
    await sleep(100);
  }
  throw new Error(`${id} is ${(await client.status(id)).phase}`);
}

it("two that are prepared at the same moment", async () => {
  await using ctx = await testContext({ allowedKey: () => true });
  await ctx.source.query(`USE ${ctx.schema}; CREATE TABLE one (id INT PRIMARY KEY, v VARCHAR(40)); ${numbered("one", 5)}; CREATE TABLE two LIKE one; CREATE TABLE zero LIKE one`);
  await using scene = await open(ctx, 2);
  const to = (table: string) => [{ schema: ctx.schema, table, targetTable: table === "zero" ? "zero" : "shared" }];
  // The state schema is there then.
  await scene.start("m0", to("zero"), { mode: "copy" });
  expect(await settled(scene.client, "m0")).toBe("completed");
  // Both look whether the place is free before one of them can record that it is not.
  const holder = await ctx.target.connect();
  await holder.query(`BEGIN; SELECT * FROM ${ctx.stateSchema}.tables WHERE migration IN ('m1', 'm2') FOR UPDATE`);
  await scene.start("m1", to("one"));
  await scene.start("m2", to("two"));
  await sleep(2_500);
  await holder.query("ROLLBACK");
  const ends = [await settled(scene.client, "m1"), await settled(scene.client, "m2")].sort();
  expect(ends).toEqual([expect.stringMatching(/PREFLIGHT_FAILED.*is written by the migration "m[12]"/), "streaming"]);
}, 60_000);

const JOINING = { created: "CREATE TABLE b (id INT PRIMARY KEY, v VARCHAR(40))", filled: "CREATE TABLE b (PRIMARY KEY (id)) SELECT id, v FROM q", renamed: "RENAME TABLE b1 TO b" };
for (const [how, statement] of Object.entries(JOINING))
  it(`a table that joins later: ${how}`, async () => {
    await using ctx = await testContext({ allowedKey: () => true });
    await ctx.source.query(`USE ${ctx.schema}; CREATE TABLE q (id INT PRIMARY KEY, v VARCHAR(40)); ${numbered("q", 50)}; CREATE TABLE b1 LIKE q`);
    await using scene = await open(ctx);
    await scene.start("m1", [{ schema: ctx.schema, table: "q", targetTable: "b" }]);
    expect(await settled(scene.client, "m1")).toBe("streaming");
    await scene.start("m2", [{ schema: ctx.schema, include: ["b*"] }], { options: { existingTarget: "replace" } });
    expect(await settled(scene.client, "m2")).toBe("streaming");
    await ctx.source.query(`USE ${ctx.schema}; ${statement}`);
    for (let i = 0; (await scene.client.status("m2")).phase !== "failed" && i < 200; i++) await sleep(100);
    expect(await settled(scene.client, "m2")).toMatch(/PREFLIGHT_FAILED.*is written by the migration "m1"/);
    expect(await ctx.target.query(`SELECT COUNT(*) AS n FROM ${ctx.schema}.b`)).toEqual([{ n: "50" }]);
  }, 60_000);

it("a name with a dot is not another one's schema and table", async () => {
  await using ctx = await testContext({ allowedKey: () => true });
  await ctx.source.query(`USE ${ctx.schema}; CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40)); ${numbered("t", 5)}`);
  await using scene = await open(ctx);
  await scene.start("m1", [{ schema: ctx.schema, table: "t", targetSchema: `${ctx.id}.y`, targetTable: "z" }]);
  expect(await settled(scene.client, "m1")).toBe("streaming");
  await scene.start("m2", [{ schema: ctx.schema, table: "t", targetSchema: ctx.id, targetTable: "y.z" }]);
  expect(await settled(scene.client, "m2")).toBe("streaming");
});
