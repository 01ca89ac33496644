/** The board's server: the guard stands before all routes, and each plugin has a scope of its own behind it. */
import fastifyCookie from "@fastify/cookie";
import fastifyFormbody from "@fastify/formbody";
import fastify, { type FastifyInstance } from "fastify";
import { addErrorAnswers } from "./error-answers.js";
import { addGuard } from "./guard-hooks.js";
import type { BoardParts, BoardPlugin } from "./plugin.js";
import { healthPlugin } from "./routes/health.js";
import { loginPlugin } from "./routes/login.js";
import { pagePlugin } from "./routes/page.js";
import { progressPlugin } from "./routes/progress.js";
import { queuesPlugin } from "./routes/queues.js";

const PLUGINS: readonly BoardPlugin[] = [healthPlugin, loginPlugin, pagePlugin, progressPlugin, queuesPlugin];

/** No request of ours is larger. */
const BODY_LIMIT = 1024 * 1024;

export async function buildServer(parts: BoardParts): Promise<FastifyInstance> {
  const server = fastify({
    bodyLimit: BODY_LIMIT,
    requestTimeout: 30_000,
    // Waiting browsers must not keep the process from ending.
    forceCloseConnections: true,
  });
  await server.register(fastifyCookie);
  await server.register(fastifyFormbody);
  addErrorAnswers(server, parts.log);
  addGuard(server, parts.config);
  for (const plugin of PLUGINS) await server.register(async (scope) => plugin(scope, parts));
  return server;
}
