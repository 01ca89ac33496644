/** Work goes on and nothing is taken for done that is not, whatever ends under it: cases 4, 6 and 8, clean ends, poison. */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { DroverError } from "../../src/shared/errors.js";
import type { Hooks } from "../../src/workers/hooks.js";
import { FaultScene, Loop, numbered, until } from "../support/fault-scene.js";
import { ensureBuilt } from "./cli-process.js";

/** Holds every chunk for a while before it is read, and counts the reads. */
function slowReads(milliseconds: number): Hooks & { reads: Map<number, number> } {
  const reads = new Map<number, number>();
  return {
    reads,
    at: async (point, detail) => {
      if (point !== "chunk:before-read") return;
      const chunk = Number(detail["chunk"]);
      reads.set(chunk, (reads.get(chunk) ?? 0) + 1);
      await sleep(milliseconds);
    },
  };
}

/** The longest time without a finished chunk, in milliseconds, between two points in time of the target's clock. */
async function longestGap(scene: FaultScene): Promise<number> {
  const rows = await scene.state<{ at: string }>("SELECT UNIX_TIMESTAMP(done_at) * 1000 AS at FROM @state.chunks WHERE done_at IS NOT NULL ORDER BY done_at");
  const times = rows.map((row) => Number(row.at));
  return Math.max(...times.slice(1).map((time, i) => time - (times[i] as number)));
}

describe("a copy", () => {
  it("goes on at the next chunk when all workers were ended and others start, not from the beginning (case 4)", async () => {
    await using scene = await FaultScene.open(inject("servers"), numbered("t", 2_000));
    const first = slowReads(20);
    const workers = [await scene.worker(first), await scene.worker(first)];
    await scene.start({ chunkRows: 50, copyConcurrency: 4 });
    await until(async () => (await scene.chunksDone()) >= 15, "some chunks");
    await Promise.all(workers.map((worker) => scene.close(worker)));
    const done = await scene.state<{ number: number }>("SELECT number FROM @state.chunks WHERE state='done'");
    const second = slowReads(5);
    await scene.worker(second);
    await scene.phase("streaming");
    expect(done.length).toBeGreaterThanOrEqual(15);
    expect(done.filter(({ number }) => second.reads.has(number))).toEqual([]);
    expect(await scene.differences()).toEqual([]);
  });

  it("is not taken for complete when an operator kills the binlog stream and the chunk reads (case 8)", async () => {
    await using scene = await FaultScene.open(inject("servers"), numbered("t", 20_000, 400));
    const gate = slowReads(30);
    await scene.worker(gate);
    await scene.start({ chunkRows: 500 });
    await until(async () => (await scene.chunksDone()) > 2, "the copy to begin");
    let killed = 0;
    let early = "";
    const operator = new Loop(async () => {
      killed += await scene.killSessions("source");
      const { phase } = await scene.client.status("m");
      const [row] = await scene.state<{ n: number }>("SELECT COUNT(*) AS n FROM @state.chunks WHERE state='pending'");
      if (phase !== "copying" && Number(row?.n) > 0) early = phase;
    }, 150);
    const writer = new Loop((turn) => scene.sql("source", `REPLACE INTO ${scene.schema}.t VALUES (${(turn * 37) % 20_000}, 'new ${turn}')`), 20);
    await sleep(5_000);
    await operator.stop();
    await writer.stop();
    expect(killed).toBeGreaterThan(5);
    expect(early).toBe("");
    await scene.phase("streaming");
    expect(await scene.differences()).toEqual([]);
  });

  it("fails with POISON on a chunk that never succeeds, keeps what is done, and goes on there when the cause is cured and it is resumed", async () => {
    await using scene = await FaultScene.open(inject("servers"), numbered("t", 1_000));
    let cured = false;
    const reads = new Map<number, number>();
    await scene.worker({
      at: async (point, detail) => {
        const chunk = Number(detail["chunk"]);
        if (point === "chunk:before-read") reads.set(chunk, (reads.get(chunk) ?? 0) + 1);
        if (point === "chunk:after-read" && chunk === 7 && !cured) throw new DroverError("SERVER_BUSY", "planted: a deadlock every time", { errno: 1213 });
      },
    });
    await scene.start({ chunkRows: 100 });
    await until(async () => Number((await scene.state<{ attempts: number }>("SELECT attempts FROM @state.chunks WHERE number=7"))[0]?.attempts ?? 0) >= 3, "attempts");
    // Meanwhile the trouble is no secret.
    await until(async () => (await scene.client.status("m")).error?.code === "SERVER_BUSY", "the error to be shown");
    // The limit is 20 attempts; the last few need not be waited for.
    await scene.state("UPDATE @state.chunks SET attempts=18 WHERE number=7");
    await scene.phase("failed");
    const { error } = await scene.client.status("m");
    expect(error).toMatchObject({ code: "POISON", errno: 1213 });
    expect(error?.message).toContain("chunk 7");
    const done = await scene.state<{ number: number }>("SELECT number FROM @state.chunks WHERE state='done'");
    cured = true;
    reads.clear();
    await scene.client.resume("m");
    await scene.phase("streaming");
    expect(done.filter(({ number }) => reads.has(number))).toEqual([]);
    expect(await scene.differences()).toEqual([]);
  });
});

describe("a follower", () => {
  it("takes a transaction from its beginning, and claims it only as a whole, when the server drops the connection in the middle of it (case 6)", async () => {
    await using scene = await FaultScene.open(inject("servers"), "CREATE TABLE big (id INT PRIMARY KEY, v VARCHAR(2000)); CREATE TABLE small (id INT PRIMARY KEY);");
    let sent = 0;
    let drops = 0;
    await scene.worker({
      // Parts of the transaction go out one after the other; the reader waits for them, and so does the server.
      at: async (point) => {
        if (point !== "batch:before-enqueue" || ++sent % 4 !== 0 || drops >= 2) return;
        // The server ends a dump whose reader is too slow: for us the same as a KILL.
        if ((await scene.killSessions("source", "tail")) > 0) drops += 1;
      },
    });
    await scene.start({ batchBytes: "64KiB" });
    await scene.phase("streaming");
    sent = 0;
    const db = await scene.connect();
    await db.query(`INSERT INTO big WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<15000) SELECT /*+ SET_VAR(cte_max_recursion_depth=100000) */ i, REPEAT(i % 10, 1500) FROM n`);
    const [whole] = await scene.sql<{ position: string }>("source", "SELECT @@GLOBAL.gtid_executed AS position");
    await db.query("INSERT INTO small VALUES (1)");
    db.destroy();
    const claims = new Set<number>();
    const reader = new Loop(async () => {
      const [row] = await scene.state<{ n: number; claimed: number }>(`SELECT (SELECT COUNT(*) FROM ${scene.schema}.big) AS n, GTID_SUBSET('${whole?.position}', position) AS claimed FROM @state.fence`);
      if (row?.claimed === 1) claims.add(Number(row.n));
    }, 10);
    await until(() => drops >= 2, "two drops");
    expect(await scene.differences()).toEqual([]);
    await until(() => claims.size > 0, "the claim to be seen");
    await reader.stop();
    expect([...claims]).toEqual([15_000]);
  }, 120_000);
});

describe("a worker that is told to end", () => {
  beforeAll(ensureBuilt, 120_000);

  it("ends within 10 s with nothing left on either server, and its jobs go on elsewhere at once, not after a stall", async () => {
    await using scene = await FaultScene.open(inject("servers"), numbered("t", 3_000, 200));
    const processes = [scene.process(), scene.process()];
    await scene.start({ chunkRows: 10, copyConcurrency: 4 });
    await until(async () => (await scene.chunksDone()) >= 60, "the copy to be under way");
    const [leaving, staying] = processes as [(typeof processes)[0], (typeof processes)[0]];
    const milliseconds = await leaving.stop();
    expect(milliseconds).toBeLessThan(10_000);
    for (const side of ["source", "target"] as const) expect(await scene.sessions(side, { worker: `-${leaving.pid}-` })).toEqual([]);
    const then = await scene.chunksDone();
    await until(async () => (await scene.chunksDone()) > then + 20, "the copy to go on");
    // The last one ends too: then nothing of ours is there at all.
    expect(await staying.stop()).toBeLessThan(10_000);
    await scene.expectNoSessions({ worker: "w-" }, 500);
    expect(await longestGap(scene)).toBeLessThan(5_000);
    await scene.worker();
    await scene.phase("streaming");
    expect(await scene.differences()).toEqual([]);
  }, 120_000);

  it("is one of all that are restarted one after the other under load: the follow does not stall", async () => {
    await using scene = await FaultScene.open(inject("servers"), numbered("t", 500));
    const old = [scene.process(), scene.process()];
    await scene.start();
    await scene.phase("streaming");
    const writer = new Loop((turn) => scene.sql("source", `REPLACE INTO ${scene.schema}.t VALUES (${turn % 700}, 'turn ${turn}')`), 10);
    let seq = -1;
    let moved = Date.now();
    let gap = 0;
    const watch = new Loop(async () => {
      const now = await scene.fence();
      if (now.seq !== seq) moved = Date.now();
      seq = now.seq;
      gap = Math.max(gap, Date.now() - moved);
    }, 20);
    for (const worker of old) {
      scene.process();
      await sleep(1_500);
      expect(await worker.stop()).toBeLessThan(10_000);
    }
    await sleep(1_500);
    await watch.stop();
    await writer.stop();
    expect(gap).toBeLessThan(5_000);
    expect(await scene.differences()).toEqual([]);
  });
});
