/** The reconciler's own job, and what becomes of commands that cannot be carried out. */
import { pino } from "pino";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/producers/index.js";
import { CommandChannel } from "../../src/producers/client/command-channel.js";
import { openQueues } from "../../src/shared/queues.js";
import { runWorker } from "../../src/workers/index.js";
import { requestReconcile } from "../../src/workers/processors/reconcile.js";
import { testContext } from "../support/context.js";
import { until } from "../support/fault-scene.js";

test("a reconciler's job that lost its place in Redis is made anew: it heals all others", async () => {
  await using ctx = await testContext();
  const queues = openQueues(ctx.redis, ctx.prefix);
  await requestReconcile({ queues });
  // A part of the keys is lost: the job is there, and in no list.
  await ctx.redis.del(`${ctx.prefix}:control:wait`, `${ctx.prefix}:control:de:reconcile`);
  expect(await queues.control.getJobState("reconcile")).toBe("unknown");
  await requestReconcile({ queues });
  expect(await queues.control.getJobState("reconcile")).toBe("waiting");
  await Promise.all(Object.values(queues).map((queue) => queue.close()));
});

test("a command whose server is away says why there is no answer; an old one is not carried out any more", async () => {
  await using ctx = await testContext();
  const config = loadConfig({ ...ctx.env, DROVER_CONNECTION_DST: "mysql://nobody:nothing@127.0.0.1:1/" });
  const worker = await runWorker({ config, log: pino({ level: "silent" }) });
  const channel = new CommandChannel({ redisUrl: ctx.redisUrl, prefix: ctx.prefix });
  const ref = { migration: "shop", target: "DST" };
  const error: unknown = await channel.send("pause", ref, { timeout: 3_000 }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "NO_ANSWER", message: expect.stringMatching(/not carried out within 3 s: CONNECTION_LOST: DST: .*It is tried again/) });
  const queues = openQueues(ctx.redis, ctx.prefix);
  const old = await queues.control.add("resume", ref, { timestamp: Date.now() - 3_600_000 });
  await until(async () => (await old.getState()) === "failed", "the old command to fail", 10_000);
  expect((await queues.control.getJob(old.id ?? ""))?.failedReason).toContain("CONNECTION_LOST");
  await channel.close();
  await worker.close();
  await Promise.all(Object.values(queues).map((queue) => queue.close()));
});
