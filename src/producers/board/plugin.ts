/** What the board is made of: one plugin per group of routes, listed in `server.ts`. */
import type { FastifyInstance } from "fastify";
import type { Redis } from "ioredis";
import type { Config } from "../../shared/config.js";
import type { Logger } from "../../shared/logger.js";
import type { Queues } from "../../shared/queues.js";
import type { DroverClient } from "../client/drover-client.js";
import type { ProgressWatch } from "./page/watch.js";

/** What every plugin may use. */
export interface BoardParts {
  config: Config;
  client: DroverClient;
  watch: ProgressWatch;
  queues: Queues;
  redis: Redis;
  log: Logger;
}

/** Adds routes to a scope of its own: hooks that it adds there do not touch the others' routes. */
export type BoardPlugin = (scope: FastifyInstance, parts: BoardParts) => void | Promise<void>;

declare module "fastify" {
  interface FastifyContextConfig {
    /** Answers without a login; nothing but what everybody may know. Default: false. */
    open?: boolean;
    /** False: a browser's request that changes something must come from our own page, and needs no token of it. Default: true. */
    csrfToken?: boolean;
  }
}
