/** Large migrations make room while small ones begin; a small one needs few jobs. */
import { expect, test } from "vitest";
import { loadConfig } from "../../src/shared/config.js";
import type { MigrationSpecInput } from "../../src/shared/contracts/spec.js";
import { createLogger } from "../../src/shared/logger.js";
import { Connections } from "../../src/shared/mysql/connections.js";
import { State } from "../../src/shared/state/state.js";
import type { EngineContext } from "../../src/workers/context.js";
import { advanceMigration, chunkWindow } from "../../src/workers/control/advance.js";
import { startMigration } from "../../src/workers/control/commands.js";
import { noHooks } from "../../src/workers/hooks.js";
import { testContext, type TestContext } from "../support/context.js";

const signal = new AbortController().signal;
const ref = (migration: string) => ({ migration, target: "DST" });

/** Tables `large` and `small` of ten rows each; what tells them apart is the estimate in the state. */
async function scene(ctx: TestContext) {
  for (const table of ["large", "small"])
    await ctx.source.query(`CREATE TABLE ${ctx.schema}.${table} (id INT PRIMARY KEY); INSERT INTO ${ctx.schema}.${table} VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10)`);
  const config = loadConfig(ctx.env);
  const connections = new Connections({ config, worker: "w-test" });
  const context: EngineContext = { config, connections, state: new State(config.stateSchema), log: createLogger("silent"), worker: "w-test", hooks: noHooks };
  // As if the test took no time, however slow the machine is: what is a matter of time is set by the tests.
  const freeze = () => ctx.target.query(`UPDATE ${ctx.stateSchema}.migrations SET started_at=UTC_TIMESTAMP(3) + INTERVAL 1 HOUR; UPDATE ${ctx.stateSchema}.chunks SET done_at=UTC_TIMESTAMP(3) + INTERVAL 1 HOUR WHERE state='done'`);
  const start = async (id: string, options: MigrationSpecInput["options"] = {}) => {
    await startMigration(context, { id, source: "SRC", target: "DST", tables: [{ schema: ctx.schema, table: id }], options }, signal);
    await freeze();
  };
  return {
    start,
    advance: async (id: string) => {
      const jobs = await advanceMigration(context, ref(id), signal);
      await freeze();
      return jobs.map((job) => job.id);
    },
    window: async (id: string) => (await chunkWindow(context, ref(id), signal)).length,
    state: (change: string) => ctx.target.query(change.replaceAll("@", `${ctx.stateSchema}.`)),
    /** Planned into ten chunks, one of them done just now, and as if it had a million rows. */
    startLarge: async () => {
      await start("large", { chunkRows: 1 });
      await advanceMigration(context, ref("large"), signal);
      await ctx.target.query(`UPDATE ${ctx.stateSchema}.tables SET rows_estimated=1000000 WHERE migration='large'; UPDATE ${ctx.stateSchema}.chunks SET state='done' WHERE migration='large' AND number=1`);
      await freeze();
    },
    [Symbol.asyncDispose]: () => Promise.resolve(connections.close()),
  };
}

test("a large migration opens no chunks while a small one is planned and copied, and all of them before and after that", async () => {
  await using ctx = await testContext();
  await using one = await scene(ctx);
  await one.startLarge();
  expect(await one.window("large")).toBe(4);
  await one.start("small");
  expect(await one.window("large")).toBe(0);
  expect(await one.advance("small")).toContain("chunk.small.1.1");
  expect(await one.window("large")).toBe(0);
  expect(await one.window("small")).toBe(1);
  await one.state("UPDATE @migrations SET phase='catching-up' WHERE id='small'");
  expect(await one.window("large")).toBe(4);
}, 60_000);

test("it waits for no other large one, for none of a lower priority, for none that does not get on, and moves on now and then", async () => {
  await using ctx = await testContext();
  await using one = await scene(ctx);
  await one.startLarge();
  await one.start("small", { priority: 6 });
  expect(await one.window("large")).toBe(4);
  await one.state("UPDATE @migrations SET spec=JSON_SET(spec, '$.options.priority', 4) WHERE id='small'");
  expect(await one.window("large")).toBe(0);
  await one.state("UPDATE @chunks SET done_at=UTC_TIMESTAMP(3) - INTERVAL 6 SECOND WHERE migration='large' AND state='done'");
  expect(await one.window("large")).toBe(1);
  await one.advance("small");
  expect(await one.window("large")).toBe(0);
  await one.state("UPDATE @tables SET rows_estimated=1000000 WHERE migration='small'");
  expect(await one.window("large")).toBe(4);
  await one.state("UPDATE @tables SET rows_estimated=10 WHERE migration='small'");
  expect(await one.window("large")).toBe(0);
  await one.state("UPDATE @migrations SET started_at=UTC_TIMESTAMP(3) - INTERVAL 21 SECOND WHERE id='small'");
  expect(await one.window("large")).toBe(4);
}, 60_000);

test("a few small tables are planned without jobs of their own, a large one is not", async () => {
  await using ctx = await testContext();
  await using one = await scene(ctx);
  await one.start("small");
  // Nor does its tail begin before its chunk, which would be void then.
  expect(await one.advance("small")).toEqual(["chunk.small.1.1"]);
  expect(await one.advance("small")).toEqual(["tail.small", "chunk.small.1.1"]);
  await one.start("large");
  await ctx.source.query(`SET SESSION cte_max_recursion_depth=100000; INSERT INTO ${ctx.schema}.large WITH RECURSIVE n(i) AS (SELECT 11 UNION ALL SELECT i+1 FROM n WHERE i<20000) SELECT i FROM n; ANALYZE TABLE ${ctx.schema}.large`);
  expect(await one.advance("large")).toEqual(["tail.large", "plan.large.1"]);
}, 60_000);
