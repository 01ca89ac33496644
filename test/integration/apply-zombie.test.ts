/** A stale worker that wakes up in apply: it was stopped between its look at the fence and its commit, and others have applied its batch. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, inject, it } from "vitest";
import type { HookPoint } from "../../src/workers/hooks.js";
import { FaultScene, Loop, numbered, until } from "../support/fault-scene.js";

const ENTRY = fileURLToPath(new URL("../support/stopping-worker.ts", import.meta.url));

/** See `stopping-worker`. */
class StoppingWorker implements AsyncDisposable {
  private readonly child: ChildProcess;
  private readonly exited: Promise<unknown>;

  private constructor(env: Record<string, string>) {
    this.child = spawn(process.execPath, ["--import", "tsx", ENTRY], { stdio: ["ignore", "ignore", "inherit", "ipc"], env: { PATH: process.env["PATH"] ?? "", ...env } });
    this.exited = once(this.child, "exit");
  }

  static async start(env: Record<string, string>): Promise<StoppingWorker> {
    const worker = new StoppingWorker(env);
    await worker.says("ready");
    return worker;
  }

  /** @returns the batch that it stopped in */
  async stopAt(point: HookPoint): Promise<number> {
    const stopped = this.says("stopped");
    this.child.send(point);
    return Number(await stopped);
  }

  wake(): void {
    this.child.kill("SIGCONT");
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  private async says(what: string): Promise<unknown> {
    const message = await Promise.race([once(this.child, "message").then(([said]) => said as Record<string, unknown>), this.exited.then(() => null)]);
    if (message === null || !(what in message)) throw new Error(`the worker did not say "${what}": ${JSON.stringify(message)}`);
    return message[what];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isRunning) return;
    this.child.kill("SIGKILL");
    await this.exited;
  }
}

/** The same few rows over and over, so that an old batch would be seen: updates, deletes, key changes. */
function write(scene: FaultScene, turn: number): Promise<unknown> {
  const id = (turn % 10) + 1;
  const t = `${scene.schema}.t`;
  if (turn % 7 === 3) return scene.sql("source", `DELETE FROM ${t} WHERE id=${id}`);
  if (turn % 7 === 5) return scene.sql("source", `UPDATE IGNORE ${t} SET id=id+1 WHERE id=${id}`);
  return scene.sql("source", `REPLACE INTO ${t} VALUES (${id}, 'turn ${turn}')`);
}

describe("a worker that is stopped in the middle of a batch, taken over, and wakes up", () => {
  // Before its transaction it finds another fence, in its transaction the server has let it go.
  for (const point of ["batch:before-apply", "batch:before-commit"] as const)
    it(`does no harm at ${point}, and works on`, async () => {
      await using scene = await FaultScene.open(inject("servers"), numbered("t", 50));
      await using victim = await StoppingWorker.start(scene.env);
      await scene.start();
      await scene.phase("streaming");
      const writer = new Loop((turn) => write(scene, turn), 10);
      const applied = new Set<number>();
      const other = await scene.worker({ at: async (at, { seq }) => void (at === "batch:after-commit" && applied.add(Number(seq))) });
      const seq = await victim.stopAt(point);
      await until(async () => applied.has(seq) && (await scene.fence()).seq > seq + 20, "another worker to take over");
      // Nothing of the one that sleeps is open any more.
      expect((await scene.transactions("target")).filter((age) => age > 10)).toEqual([]);
      const asleep = (await scene.fence()).seq;
      let highest = asleep;
      victim.wake();
      await until(async () => {
        const now = (await scene.fence()).seq;
        if (now < highest) throw new Error(`the fence went back from ${highest} to ${now}`);
        highest = now;
        return now > asleep + 40;
      }, "more batches");
      await writer.stop();
      expect(await scene.differences()).toEqual([]);
      expect((await scene.client.status("m")).error).toBeNull();
      // It is as good as any other.
      await scene.close(other);
      await write(scene, 1);
      expect(await scene.differences()).toEqual([]);
      expect(victim.isRunning).toBe(true);
      expect((await scene.client.status("m")).error).toBeNull();
    }, 120_000);
});
