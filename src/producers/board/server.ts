/** The board's server: one file per group of routes; the guard stands before all of them. */
import fastifyCookie from "@fastify/cookie";
import fastifyFormbody from "@fastify/formbody";
import fastify, { type FastifyInstance } from "fastify";
import type { Redis } from "ioredis";
import type { Config } from "../../shared/config.js";
import type { Logger } from "../../shared/logger.js";
import type { Queues } from "../../shared/queues.js";
import type { DroverClient } from "../client/drover-client.js";
import { addErrorAnswers } from "./error-answers.js";
import { Guard } from "./guard.js";
import { addHealthRoutes } from "./routes/health.js";
import { addLoginRoutes } from "./routes/login.js";
import { addPageRoutes } from "./routes/page.js";
import { addProgressRoutes } from "./routes/progress.js";
import { addQueueRoutes } from "./routes/queues.js";

export interface BoardParts {
  config: Config;
  client: DroverClient;
  queues: Queues;
  redis: Redis;
  log: Logger;
}

/** No request of ours is larger. */
const BODY_LIMIT = 256 * 1024;

export async function buildServer(parts: BoardParts): Promise<FastifyInstance> {
  const server = fastify({
    bodyLimit: BODY_LIMIT,
    requestTimeout: 30_000,
    // Waiting browsers must not keep the process from ending.
    forceCloseConnections: true,
  });
  const guard = new Guard({ token: parts.config.apiToken });
  await server.register(fastifyCookie);
  await server.register(fastifyFormbody);
  addErrorAnswers(server, parts.log);
  server.addHook("onRequest", (request, reply) => guard.check(request, reply));
  server.addHook("onSend", async (_request, reply) => {
    reply.headers({ "x-content-type-options": "nosniff", "x-frame-options": "DENY", "referrer-policy": "same-origin" });
  });
  addHealthRoutes(server, parts);
  addLoginRoutes(server, guard);
  await addPageRoutes(server);
  addProgressRoutes(server, parts.client);
  await addQueueRoutes(server, parts.queues);
  return server;
}
