/** Redis lost some of its keys, not all: a chain of batches with a hole in it (promise 3). */
import { expect, it } from "vitest";
import { DdlScene, numbered } from "./ddl-scene.js";

async function keysOf({ ctx }: DdlScene, pattern: string): Promise<string[]> {
  return await ctx.redis.keys(`${ctx.prefix}:backlog:m:${pattern}`);
}

for (const lost of ["first", "last"] as const)
  it(`the ${lost} payload of the backlog is gone: the follow goes on by itself`, async () => {
    await using scene = await DdlScene.start({ before: `CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40)); ${numbered("t", 50)}`, options: { batchRows: 1 } });
    await scene.streaming();
    await scene.stopWorker();
    await scene.startWorker(undefined, ["control", "copy", "tail"]);
    for (let i = 1; i <= 10; i++) await scene.source(`UPDATE t SET v='changed' WHERE id=${i}`);
    await expect.poll(async () => (await keysOf(scene, "batch:*")).length, { timeout: 20_000 }).toBeGreaterThanOrEqual(10);
    const seq = (key: string) => Number(key.slice(key.lastIndexOf(":") + 1));
    const batches = (await keysOf(scene, "batch:*")).sort((a, b) => seq(a) - seq(b));
    await scene.ctx.redis.del((lost === "first" ? batches[0] : batches.at(-1)) as string);
    await scene.stopWorker();
    await scene.startWorker();
    expect(await scene.differences()).toEqual([]);
    expect((await keysOf(scene, "*")).filter((key) => /:batch:/.test(key))).toEqual([]);
    const [count] = await scene.target<{ n: string }>(`SELECT COUNT(*) AS n FROM ${scene.ctx.schema}.t WHERE v='changed'`);
    expect(count?.n).toBe("10");
  }, 60_000);
