/** What a `DroverClient` is made from: options of its own, or the settings that `loadConfig` read. */
import type { Telemetry } from "bullmq";
import { loadConfig, type Config } from "../../shared/config.js";

export interface DroverClientOptions {
  /** Default `redis://127.0.0.1:6379`. */
  redisUrl?: string;
  /** Prefix of every queue and key; default `drover`. It must be the workers'. */
  prefix?: string;
  /** State schema on the targets; default `drover`. It must be the workers'. */
  stateSchema?: string;
  /** MySQL servers by name, as `mysql://user:password@host:port/`: where status is read. Commands need the targets only. */
  connections?: Readonly<Record<string, string>>;
  /** BullMQ's hook for traces, such as `BullMQOtel` of bullmq-otel: commands then join the caller's trace. */
  telemetry?: Telemetry;
}

/** @throws DroverError CONFIG_INVALID */
export function clientConfig(options: DroverClientOptions): Config {
  const variables: Record<string, string> = {};
  if (options.redisUrl !== undefined) variables["DROVER_REDIS_URL"] = options.redisUrl;
  if (options.prefix !== undefined) variables["DROVER_PREFIX"] = options.prefix;
  if (options.stateSchema !== undefined) variables["DROVER_STATE_SCHEMA"] = options.stateSchema;
  for (const [name, url] of Object.entries(options.connections ?? {})) variables[`DROVER_CONNECTION_${name}`] = url;
  // The same reading and the same checks as for settings of the environment.
  return loadConfig(variables);
}
