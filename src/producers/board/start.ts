/** Starts the board: its own Redis connection, queues and client, and the server over them. */
import { isIP } from "node:net";
import type { Telemetry } from "bullmq";
import type { FastifyInstance } from "fastify";
import type { Config } from "../../shared/config.js";
import { DroverError } from "../../shared/errors.js";
import { createLogger } from "../../shared/logger.js";
import { openQueues } from "../../shared/queues.js";
import { DroverClient } from "../client/drover-client.js";
import { openProducerRedis } from "../client/redis-answer.js";
import { isLoopback } from "./guard/same-origin.js";
import { ProgressWatch } from "./page/watch.js";
import { buildServer } from "./server.js";

export interface BoardOptions {
  config: Config;
  /** BullMQ's hook for traces. */
  telemetry?: Telemetry | undefined;
  /** 0 takes a free one. */
  port: number;
  /** Default: loopback without a token, all addresses with one. */
  host: string | undefined;
}

export interface RunningBoard {
  url: string;
  close(): Promise<void>;
}

/** @throws DroverError CONFIG_INVALID when it cannot or must not listen there */
export async function startBoard(options: BoardOptions): Promise<RunningBoard> {
  const { config } = options;
  const guarded = config.apiToken !== null || config.trustedUserHeader !== null;
  const host = options.host ?? (guarded ? "0.0.0.0" : "127.0.0.1");
  if (!guarded && !isLoopback(host))
    throw new DroverError("CONFIG_INVALID", `without a token the board does not listen on ${host}`, { cure: "set DROVER_API_TOKEN, or listen on 127.0.0.1" });
  const log = createLogger(config.logLevel);
  const redis = openProducerRedis(config.redisUrl);
  const queues = openQueues(redis, config.prefix, options.telemetry);
  const client = new DroverClient({ config, telemetry: options.telemetry });
  const server = await buildServer({ config, client, watch: new ProgressWatch(client), queues, redis, log });
  const close = async () => {
    await server.close();
    await client.close();
    await Promise.race([Promise.allSettled(Object.values(queues).map((queue) => queue.close())), new Promise((resolve) => setTimeout(resolve, 1_000).unref())]);
    redis.disconnect();
  };
  try {
    await server.listen({ host, port: options.port });
  } catch (cause) {
    await close();
    const { code } = cause as NodeJS.ErrnoException;
    throw new DroverError("CONFIG_INVALID", `the board cannot listen on ${host}, port ${options.port} (${code ?? String(cause)})`, { cure: "choose another --port or --host", cause });
  }
  return { url: urlOf(host, boundPort(server) ?? options.port), close };
}

function boundPort(server: FastifyInstance): number | undefined {
  const address = server.server.address();
  return typeof address === "object" ? address?.port : undefined;
}

/** A URL that works on this machine. */
function urlOf(host: string, port: number): string {
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "[::1]" : isIP(host) === 6 ? `[${host}]` : host;
  return `http://${name}:${port}/`;
}
