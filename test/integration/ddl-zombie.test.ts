/** A worker that was stopped right before it runs DDL must not run it when it wakes: DDL cannot check the fence in a transaction of its own. */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, expect, it } from "vitest";
import type { BatchInfo, BatchStatement } from "../../src/shared/backlog/batch.js";
import { loadConfig } from "../../src/shared/config.js";
import { createLogger } from "../../src/shared/logger.js";
import type { ByteSql } from "../../src/shared/mysql/bytes.js";
import { Connections } from "../../src/shared/mysql/connections.js";
import { executedPosition } from "../../src/shared/mysql/position.js";
import { State } from "../../src/shared/state/state.js";
import type { MoveFence } from "../../src/workers/apply/statement-barrier.js";
import type { EngineContext } from "../../src/workers/context.js";
import { createStatementExecutor } from "../../src/workers/ddl/index.js";
import type { HookPoint } from "../../src/workers/hooks.js";
import { DdlScene, numbered } from "./ddl-scene.js";

/** A table that streams, no worker at work, and a TRUNCATE of the source that any number of executors may try to carry out. */
async function truncating(scene: DdlScene) {
  await scene.streaming();
  await scene.caughtUp();
  await scene.stopWorker();
  const { ctx } = scene;
  const config = loadConfig(ctx.env);
  const connections = new Connections({ config, worker: "zombie" });
  const state = new State(config.stateSchema);
  const base: EngineContext = { config, connections, state, worker: "zombie", log: createLogger("silent"), hooks: { at: () => Promise.resolve() } };
  const { signal } = new AbortController();
  const [migration, tables, fence] = await connections.use("DST", "target", signal, async (session) => [
    await state.migrations.require(session, "m"), await state.tables.list(session, "m"), await state.fence.require(session, "m"),
  ] as const);
  await scene.source("TRUNCATE t");
  const to = await connections.use("SRC", "source", signal, executedPosition);
  const info: BatchInfo = { chain: "c", epoch: fence.epoch, seq: fence.seq + 1, from: fence.position, to, rows: 0, transactions: 1, sourceTime: 0, barrier: true };
  const statement: BatchStatement = {
    gtid: `${to.split(":")[0]}:${to.split("-").at(-1)}`, sql: "TRUNCATE t", schema: ctx.schema, clientCollation: 255, connectionCollation: 255, serverCollation: 255, sqlMode: "0",
    timestamp: "0", timeZone: null, utf8mb4Collation: 255, explicitDefaults: null, withRows: false,
  };
  const move: MoveFence<void> = async (session, change) => {
    await session.run("BEGIN" as ByteSql);
    await state.fence.require(session, "m", "update");
    await change(session);
    await state.fence.advance(session, "m", { ...info, partial: false, rowsPerSecond: 0, position: to });
    await session.run("COMMIT" as ByteSql);
  };
  return {
    /** @param pausesAt where it waits until `wake` is called */
    execute: async (pausesAt?: HookPoint) => {
      const hooks = { at: (point: HookPoint) => (point === pausesAt ? asleep : Promise.resolve()) };
      await createStatementExecutor({ ...base, hooks }).execute(statement, { ref: { migration: "m", target: "DST" }, migration, tables, info }, move, signal);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(connections.close()),
  };
}

let wake = () => {};
let asleep = Promise.resolve();
beforeEach(() => {
  asleep = new Promise<void>((resolve) => (wake = resolve));
});

const TABLE = `CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40)); ${numbered("t", 20)}`;

it("a zombie's TRUNCATE: its session holds the lock that the next one needs, or is gone", async () => {
  await using scene = await DdlScene.start({ before: TABLE });
  await using truncate = await truncating(scene);
  const first = truncate.execute("ddl:before-execute").catch((error: unknown) => error);
  const holder = await lockHolder(scene);
  await expect(truncate.execute()).rejects.toMatchObject({ code: "SERVER_BUSY" });
  // What the server does by itself to a session that is idle for too long.
  await scene.ctx.target.query(`KILL ${holder}`);
  await truncate.execute();
  await scene.ctx.target.query(`INSERT INTO ${scene.ctx.schema}.t VALUES (1, 'behind it')`);
  wake();
  expect(await first).toMatchObject({ code: "CONNECTION_LOST" });
  // And one that comes too late altogether.
  await expect(truncate.execute()).rejects.toMatchObject({ code: "FENCE_MOVED" });
  expect(await scene.target(`SELECT * FROM ${scene.ctx.schema}.t`)).toEqual([{ id: 1, v: "behind it" }]);
});

it("two appliers at once, as after an emptied Redis: none runs the TRUNCATE before the other has moved the fence behind it", async () => {
  await using scene = await DdlScene.start({ before: TABLE });
  await using truncate = await truncating(scene);
  const first = truncate.execute("ddl:before-fence");
  await lockHolder(scene);
  await expect(truncate.execute()).rejects.toMatchObject({ code: "SERVER_BUSY" });
  const second = truncate.execute().catch((error: unknown) => error);
  wake();
  await first;
  await scene.ctx.target.query(`INSERT INTO ${scene.ctx.schema}.t VALUES (1, 'behind it')`);
  expect(await second).toMatchObject({ code: "FENCE_MOVED" });
  expect(await scene.target(`SELECT * FROM ${scene.ctx.schema}.t`)).toEqual([{ id: 1, v: "behind it" }]);
});

it("an executor whose session is gone before it has moved the fence does not move it any more", async () => {
  await using scene = await DdlScene.start({ before: TABLE });
  await using truncate = await truncating(scene);
  const first = truncate.execute("ddl:before-fence").catch((error: unknown) => error);
  await scene.ctx.target.query(`KILL ${await lockHolder(scene)}`);
  wake();
  expect(await first).toMatchObject({ code: "CONNECTION_LOST" });
  await truncate.execute();
  await expect(truncate.execute()).rejects.toMatchObject({ code: "FENCE_MOVED" });
});

/** The target's session that waits before its DDL. */
async function lockHolder(scene: DdlScene): Promise<string> {
  for (let i = 0; i < 100; i++) {
    const rows = await scene.target<{ id: string }>(
      `SELECT t.PROCESSLIST_ID AS id FROM performance_schema.metadata_locks l JOIN performance_schema.threads t ON t.THREAD_ID=l.OWNER_THREAD_ID
        WHERE l.OBJECT_TYPE='USER LEVEL LOCK' AND l.LOCK_STATUS='GRANTED' AND t.PROCESSLIST_USER='${scene.ctx.target.user}' AND t.PROCESSLIST_COMMAND='Sleep'`,
    );
    if (rows[0] !== undefined) return rows[0].id;
    await sleep(50);
  }
  throw new Error("nobody holds the DDL lock");
}

it("a zombie's index build: the table is not created anew while its session may still build", async () => {
  let reached = () => {};
  const before = new Promise<void>((resolve) => (reached = resolve));
  let builds = 0;
  const hooks = {
    at: async (point: string) => {
      if (point !== "index:before-build" || (builds += 1) > 1) return;
      reached();
      await asleep;
    },
  };
  await using scene = await DdlScene.start({ before: `CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40), w INT, KEY late (v)); ${numbered("t", 6000)}; ANALYZE TABLE t`, hooks });
  await before;
  await scene.source("ALTER TABLE t DROP KEY late, ADD KEY late (w)");
  // Long enough for the table to start over, were it not for the lock. What the zombie builds then must not be the new table's.
  await sleep(3_000);
  wake();
  expect(await scene.differences()).toEqual([]);
  expect(builds).toBeGreaterThan(1);
});
