/** Redis' host vanishes without a FIN and a successor answers at the same address: commands under way are sent again there. */
import { expect, inject, it } from "vitest";
import { CuttingProxy } from "../../scripts/faults/cutting-proxy.js";
import { openQueues, openRedis } from "../../src/shared/queues.js";
import { testContext } from "../support/context.js";

it("commands and jobs go on within some 30 s, and a blocking command that waits is not taken for silence", async () => {
  await using ctx = await testContext();
  const url = new URL(inject("servers").redis);
  await using proxy = await CuttingProxy.open({ host: url.hostname, port: Number(url.port) });
  url.port = String(proxy.port);
  const redis = openRedis(url.href);
  const blocking = openRedis(inject("servers").redis);
  const closed: string[] = [];
  redis.on("error", () => undefined);
  blocking.on("error", () => undefined);
  blocking.on("close", () => closed.push("blocking"));
  const queues = openQueues(redis, ctx.prefix);
  try {
    // The longest that BullMQ waits at once.
    const nothing = blocking.blpop(`${ctx.prefix}:nothing`, 10);
    await queues.control.add("reconcile", {}, { jobId: "before" });
    proxy.cutLine();
    const late = queues.control.add("reconcile", {}, { jobId: "after" });
    await new Promise((resolve) => setTimeout(resolve, 200));
    proxy.mend();
    const began = Date.now();
    await late;
    expect(Date.now() - began).toBeLessThan(45_000);
    expect(await nothing).toBeNull();
    expect(closed).toEqual([]);
    expect(await queues.control.getJob("after")).toBeDefined();
  } finally {
    await Promise.all(Object.values(queues).map((queue) => queue.close()));
    redis.disconnect();
    blocking.disconnect();
  }
}, 90_000);
