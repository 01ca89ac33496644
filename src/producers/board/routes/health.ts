/** `/healthz`: this process is alive. `/readyz`: work is being taken from the queues, so that a command given here is carried out. */
import { READINESS_LIFE, consumptionProblems } from "../../../shared/consumption.js";
import { remembered } from "../../../shared/remembered.js";
import type { BoardPlugin } from "../plugin.js";

export const healthPlugin: BoardPlugin = (scope, { config, redis, queues }) => {
  scope.get("/healthz", { config: { open: true } }, async () => ({ ok: true }));

  const ending = new AbortController();
  scope.addHook("onClose", async () => ending.abort());
  const look = remembered(READINESS_LIFE, () => consumptionProblems({ redis, prefix: config.prefix, queues, shutdown: ending.signal }));
  // Open to everybody, so it names queues and codes only.
  scope.get("/readyz", { config: { open: true } }, async (_request, reply) => {
    const problems = await look();
    return await reply.code(problems.length === 0 ? 200 : 503).header("cache-control", "no-store").send({ ok: problems.length === 0, problems });
  });
};
