/** The board's server: the guard stands before all routes, and each plugin has a scope of its own behind it. */
import fastifyCookie from "@fastify/cookie";
import fastifyFormbody from "@fastify/formbody";
import fastify, { type FastifyInstance } from "fastify";
import { apiPlugin } from "../api/plugin.js";
import { limitConnections } from "./connection-limit.js";
import { addErrorAnswers } from "./error-answers.js";
import { addGuard } from "./guard/hooks.js";
import { addReadOnly } from "./guard/read-only.js";
import type { BoardParts, BoardPlugin } from "./plugin.js";
import { metricsPlugin } from "./metrics/plugin.js";
import { progressPlugin } from "./page/events.js";
import { pagePlugin } from "./page/page.js";
import { healthPlugin } from "./routes/health.js";
import { loginPlugin } from "./routes/login.js";
import { queuesPlugin } from "./routes/queues.js";
import { sessionPlugin } from "./routes/session.js";

const PLUGINS: readonly BoardPlugin[] = [healthPlugin, loginPlugin, sessionPlugin, apiPlugin, pagePlugin, progressPlugin, metricsPlugin, queuesPlugin];

/** No request of ours is larger; bytes. */
const BODY_LIMIT = 1024 * 1024;
/** Pages, their events, and programs that wait: far more than a team has. */
const CONNECTIONS = 512;
/** For the head of a request, for all of it, and between two; milliseconds. Waiting for an answer has no limit here. */
const HEAD_TIMEOUT = 5_000;
const REQUEST_TIMEOUT = 30_000;
const KEEP_ALIVE = 10_000;

export async function buildServer(parts: BoardParts): Promise<FastifyInstance> {
  const server = fastify({
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT,
    keepAliveTimeout: KEEP_ALIVE,
    http: { headersTimeout: HEAD_TIMEOUT, connectionsCheckingInterval: 1_000 },
    trustProxy: parts.config.trustedProxies.length > 0 && [...parts.config.trustedProxies],
    // Waiting browsers must not keep the process from ending.
    forceCloseConnections: true,
  });
  limitConnections(server.server, CONNECTIONS);
  await server.register(fastifyCookie);
  await server.register(fastifyFormbody);
  addErrorAnswers(server, parts.log);
  addGuard(server, parts.config);
  if (parts.config.boardReadOnly) addReadOnly(server);
  for (const plugin of PLUGINS) await server.register(async (scope) => plugin(scope, parts));
  return server;
}
