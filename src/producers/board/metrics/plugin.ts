/** `/metrics`, for Prometheus: behind the login, like all else; a scraper sends the token as a bearer token. */
import { Registry, collectDefaultMetrics } from "prom-client";
import { readQueues } from "../../../shared/consumption.js";
import { redisAnswer } from "../../client/redis-answer.js";
import type { BoardPlugin } from "../plugin.js";
import { observedRegistry } from "./exposition.js";

export const metricsPlugin: BoardPlugin = (scope, { config, queues, redis, watch, log }) => {
  const own = new Registry();
  collectDefaultMetrics({ register: own, prefix: "drover_board_" });
  scope.get("/metrics", async (_request, reply) => {
    const [snapshot, states] = await Promise.all([
      watch.snapshot().catch((error: unknown) => {
        log.warn({ err: error }, "no figures of migrations for the metrics");
        return null;
      }),
      redisAnswer(redis, config.redisUrl, () => readQueues({ queues })).catch(() => null),
    ]);
    const observed = observedRegistry({ snapshot, queues: states, connections: [...config.connections.keys()] });
    return await reply.type(own.contentType).header("cache-control", "no-store").send(await Registry.merge([observed, own]).metrics());
  });
};
