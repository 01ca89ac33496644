/** Where tables may go, asked by the workers themselves: a job on the queue comes without a preflight, and two names of one server look like two servers. */
import { expect, it } from "vitest";
import { loadConfig, type MigrationSpecInput } from "../../src/producers/index.js";
import { parseMigrationSpec } from "../../src/shared/contracts/spec.js";
import { readTableDefinition } from "../../src/shared/columns/read-table.js";
import { createLogger } from "../../src/shared/logger.js";
import { Connections } from "../../src/shared/mysql/connections.js";
import { executedPosition } from "../../src/shared/mysql/position.js";
import type { Session } from "../../src/shared/mysql/session.js";
import { recordMigration } from "../../src/shared/state/record-migration.js";
import { State } from "../../src/shared/state/state.js";
import { addTable } from "../../src/workers/ddl/joined-table.js";
import { restartTable } from "../../src/workers/ddl/restart-table.js";
import { noHooks } from "../../src/workers/hooks.js";
import { prepareMigration } from "../../src/workers/planner/prepare.js";
import { testContext, type TestContext } from "../support/context.js";

/** The planner without queues. SRC has a second name, OTHER. */
function planner(ctx: TestContext) {
  const config = loadConfig({ ...ctx.env, DROVER_CONNECTION_OTHER: ctx.source.url });
  const connections = new Connections({ config, worker: "test" });
  const state = new State(config.stateSchema);
  const context = { config, connections, state, log: createLogger("silent"), worker: "test", hooks: noHooks };
  const { signal } = new AbortController();
  return {
    context, state, signal,
    on: <T>(server: string, work: (session: Session) => Promise<T>) => connections.use(server, server === "SRC" ? "source" : "target", signal, work),
    async prepare(input: Omit<MigrationSpecInput, "source">) {
      const whole = { source: "SRC", mode: "copy" as const, ...input };
      const spec = parseMigrationSpec(whole);
      await connections.use(spec.target, "target", signal, (session) => recordMigration(session, state, whole, spec));
      const migration = await connections.use(spec.target, "target", signal, (session) => state.migrations.require(session, spec.id));
      await prepareMigration(context, { migration: spec.id, target: spec.target }, migration, signal);
    },
    async [Symbol.asyncDispose]() {
      connections.close();
    },
  };
}

for (const existingTarget of ["replace", "resume"] as const)
  it(`the source's own tables are no target, existingTarget ${existingTarget}`, async () => {
    await using ctx = await testContext();
    await using plan = planner(ctx);
    await ctx.source.query(`CREATE TABLE ${ctx.schema}.t (id INT PRIMARY KEY); INSERT INTO ${ctx.schema}.t VALUES (1), (2)`);
    await expect(plan.prepare({ id: "m", target: "OTHER", tables: [{ schema: ctx.schema }], options: { existingTarget } })).rejects.toThrow(/same server/);
    expect(await ctx.source.query(`SELECT COUNT(*) AS n FROM ${ctx.schema}.t`)).toEqual([{ n: "2" }]);
    expect(await plan.on("OTHER", (session) => plan.state.tables.list(session, "m"))).toEqual([]);
  }, 120_000);

it("the state schema is no target", async () => {
  await using ctx = await testContext();
  await using plan = planner(ctx);
  await ctx.source.query(`CREATE TABLE ${ctx.schema}.t (id INT PRIMARY KEY)`);
  const tables = [{ schema: ctx.schema, table: "t", targetSchema: ctx.stateSchema, targetTable: "migrations" }];
  await expect(plan.prepare({ id: "m", target: "DST", tables, options: { existingTarget: "replace" } })).rejects.toThrow(/state schema/);
  expect((await plan.on("DST", (session) => plan.state.migrations.require(session, "m"))).id).toBe("m");
}, 120_000);

it("a table that joins later does not go on one that is read from", async () => {
  await using ctx = await testContext();
  await using plan = planner(ctx);
  const other = `${ctx.id}_two`;
  await ctx.source.query(`CREATE TABLE ${ctx.schema}.awake (id INT PRIMARY KEY); CREATE DATABASE ${other}; CREATE TABLE ${other}.asleep (id INT PRIMARY KEY); INSERT INTO ${other}.asleep VALUES (1), (2)`);
  await plan.prepare({
    id: "m", target: "OTHER", options: { existingTarget: "replace" },
    tables: [{ schema: ctx.schema, include: ["a*"], targetSchema: other }, { schema: other, include: ["asleep"], targetSchema: `${ctx.id}_three` }],
  });
  await ctx.source.query(`CREATE TABLE ${ctx.schema}.asleep (id INT PRIMARY KEY)`);
  // As an earlier version would have recorded it.
  const joined = await plan.on("OTHER", async (session) => {
    const definition = await readTableDefinition(session, ctx.schema, "asleep");
    const selected = { source: { schema: ctx.schema, table: "asleep" }, target: { schema: other, table: "asleep" }, where: null };
    return await addTable(plan.state, session, "m", { selected, definition: definition!, startPosition: await executedPosition(session), phase: "pending" });
  });
  await expect(restartTable(plan.context, { migration: "m", target: "OTHER" }, joined.number, plan.signal)).rejects.toThrow(/same server/);
  expect(await ctx.source.query(`SELECT COUNT(*) AS n FROM ${other}.asleep`)).toEqual([{ n: "2" }]);
}, 120_000);
