/** No lock outlives a worker (promise 1): cases 1, 5 and 9. */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { FaultScene, Loop, numbered, until } from "../support/fault-scene.js";
import { ensureBuilt } from "./cli-process.js";

const ROWS = 5_000;
const HALF = ROWS / 2;

/** How long a statement that needs the table for itself waits on the source, and which transactions of ours are open behind it (ages in seconds). */
async function exclusively(scene: FaultScene, statement: string): Promise<{ milliseconds: number; older: number[] }> {
  const db = await scene.connect();
  try {
    await db.query("SET SESSION lock_wait_timeout=30, sql_log_bin=0");
    const begin = performance.now();
    await db.query(statement);
    const milliseconds = performance.now() - begin;
    const open = [...(await scene.transactions("source")), ...(await scene.transactions("target"))];
    return { milliseconds, older: open.filter((age) => age > 1) };
  } finally {
    db.destroy();
  }
}

describe("a copy in chunks of one row, half done, that the surviving process takes up again (case 1)", () => {
  beforeAll(ensureBuilt, 120_000);

  it("leaves nothing open when a worker was stopped cleanly, the migration paused, and a worker killed: DROP DATABASE runs at once", async () => {
    await using scene = await FaultScene.open(inject("servers"), numbered("t", ROWS));
    await scene.worker();
    const [stopped, killed] = [scene.process(), scene.process()];
    await scene.start({ chunkRows: 1, copyConcurrency: 8 });
    await until(async () => (await scene.chunksDone()) >= HALF, "half of the chunks", 120_000);
    const interruptions = [
      () => stopped.stop(),
      async () => {
        await scene.client.pause("m");
        await sleep(200);
        await scene.client.resume("m");
      },
      () => killed.kill(),
    ];
    for (const interrupt of interruptions) {
      await interrupt();
      const then = await scene.chunksDone();
      await until(async () => (await scene.chunksDone()) > then + 20, "the copy to go on");
      const { milliseconds, older } = await exclusively(scene, `ALTER TABLE ${scene.schema}.t COMMENT='probed'`);
      expect(milliseconds).toBeLessThan(2_000);
      expect(older).toEqual([]);
    }
    expect(await scene.chunksDone()).toBeLessThan(ROWS);
    const { milliseconds, older } = await exclusively(scene, `DROP DATABASE ${scene.schema}`);
    expect(milliseconds).toBeLessThan(2_000);
    expect(older).toEqual([]);
    await sleep(1_000);
    for (const side of ["source", "target"] as const) expect((await scene.transactions(side)).filter((age) => age > 1)).toEqual([]);
  }, 180_000);
});

describe("two migrations side by side", () => {
  it("a second one on another table of the schema starts while the first copies, and nobody waits for a metadata lock (case 5)", async () => {
    await using scene = await FaultScene.open(inject("servers"), `${numbered("a", 3_000)} ${numbered("b", 3_000)}`);
    await scene.worker({ at: async (point) => void (point === "chunk:before-commit" && (await sleep(20))) });
    const pending: string[] = [];
    const look = (side: "source" | "target") => new Loop(async () => {
      // Not `metadata_locks`: a lock is PENDING there for the moment before it is granted, too.
      const rows = await scene.sql<{ what: string }>(side, `SELECT CONCAT_WS(' ', PROCESSLIST_STATE, PROCESSLIST_INFO) AS what FROM performance_schema.threads
        WHERE PROCESSLIST_STATE LIKE 'Waiting for%metadata lock' AND (PROCESSLIST_USER='${scene.id}' OR PROCESSLIST_INFO LIKE '%${scene.id}%')`);
      pending.push(...rows.map((row) => `${side}: ${row.what}`));
    }, 10);
    const options = { chunkRows: 50, copyConcurrency: 2 };
    await scene.start(options, "m", [{ schema: scene.schema, table: "a" }]);
    await until(async () => (await scene.chunksDone()) > 3, "the first copy to begin");
    const looks = [look("source"), look("target")];
    await scene.start(options, "other", [{ schema: scene.schema, table: "b" }]);
    await until(async () => (await scene.chunksDone("other")) > 3, "the second copy to begin");
    expect((await scene.client.status("m")).phase).toBe("copying");
    await Promise.all(["m", "other"].map((id) => scene.client.waitFor(id, "streaming", { timeout: 50_000 })));
    await Promise.all(looks.map((loop) => loop.stop()));
    expect(looks.every((loop) => loop.turns > 20)).toBe(true);
    expect(pending).toEqual([]);
  });

  it("two followers of one source have server ids of their own and do not throw each other out (case 9)", async () => {
    await using scene = await FaultScene.open(inject("servers"), `${numbered("a", 10)} ${numbered("b", 10)}`);
    await scene.worker();
    await scene.start({}, "m", [{ schema: scene.schema, table: "a" }]);
    await scene.start({}, "other", [{ schema: scene.schema, table: "b" }]);
    await Promise.all(["m", "other"].map((id) => scene.client.waitFor(id, "streaming", { timeout: 40_000 })));
    const dumps = async () => (await scene.sql<{ id: number }>("source", `SELECT ID AS id FROM information_schema.PROCESSLIST WHERE USER='${scene.id}' AND COMMAND LIKE 'Binlog Dump%' ORDER BY 1`)).map((row) => row.id);
    await until(async () => (await dumps()).length === 2, "two dumps");
    const first = await dumps();
    // Of two dumps with one id the server ends the older, so those of one id would change all the time.
    await sleep(4_000);
    expect(await dumps()).toEqual(first);
  });
});
