/** Every setting: its variable, what it is, its default. The help and the README's table say the same; the keys are those of the settings file. */
import type { SettingsFile } from "./config.js";

export interface Setting {
  variable: string;
  meaning: string;
  /** As people read it; null: none. */
  fallback: string | null;
}

export const SETTINGS: Record<keyof SettingsFile, Setting> = {
  connections: { variable: "DROVER_CONNECTION_<NAME>", meaning: "a server: mysql://user:password@host:port/ (or _FILE: a file that holds it)", fallback: null },
  redisUrl: { variable: "DROVER_REDIS_URL", meaning: "Redis of the queues", fallback: "redis://127.0.0.1:6379" },
  prefix: { variable: "DROVER_PREFIX", meaning: "prefix of every queue and key", fallback: "drover" },
  limits: { variable: "DROVER_LIMITS_<NAME>", meaning: "most of all workers together on a server: connections=40,statements=8", fallback: null },
  stateSchema: { variable: "DROVER_STATE_SCHEMA", meaning: "state schema on the target", fallback: "drover" },
  logLevel: { variable: "DROVER_LOG_LEVEL", meaning: "trace, debug, info, warn, error, fatal, silent", fallback: "info" },
  workerPort: { variable: "DROVER_WORKER_PORT", meaning: "port of a worker's /healthz, /readyz and /metrics", fallback: null },
  workerHost: { variable: "DROVER_WORKER_HOST", meaning: "address of that port", fallback: "127.0.0.1" },
  otel: { variable: "DROVER_OTEL", meaning: "on: traces by OpenTelemetry; also on when OTEL_EXPORTER_OTLP_ENDPOINT is set", fallback: "off" },
  apiToken: { variable: "DROVER_API_TOKEN", meaning: "token of the board; without it, it listens on loopback only", fallback: null },
  boardReadOnly: { variable: "DROVER_BOARD_READ_ONLY", meaning: "on: the board shows everything and changes nothing", fallback: "off" },
  trustedUserHeader: { variable: "DROVER_TRUSTED_USER_HEADER", meaning: "a header in which a proxy names the user that it has checked", fallback: null },
  trustedProxies: { variable: "DROVER_TRUSTED_PROXIES", meaning: "addresses or networks of such proxies, with commas", fallback: null },
};

/** Names this file; the one setting that it cannot hold. */
export const CONFIG_VARIABLE: Setting = { variable: "DROVER_CONFIG", meaning: "a settings file, YAML or JSON; variables win over it", fallback: null };
