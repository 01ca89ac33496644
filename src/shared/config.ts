/**
 * Settings: environment variables over the file that `DROVER_CONFIG` names (contract, "Running it").
 * In the file the keys are the variables' names in camel case, connections as a map.
 */
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { parse as parseYaml } from "yaml";
import { z } from "zod";
import { DroverError, bounded, type Problem } from "./errors.js";
import { parseContract, connectionName } from "./contracts/spec.js";
import { ENCODE, parseServerUrl, type ServerAddress } from "./mysql/server-address.js";

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

const serverLimits = z.strictObject({ connections: z.number().int().min(1).optional(), statements: z.number().int().min(1).optional() });

const settingsFile = z.strictObject({
  redisUrl: z.string().optional(),
  prefix: z.string().optional(),
  connections: z.record(connectionName, z.string()).optional(),
  limits: z.record(connectionName, serverLimits).optional(),
  stateSchema: z.string().optional(),
  logLevel: z.enum(LOG_LEVELS).optional(),
  apiToken: z.string().optional(),
  trustedUserHeader: z.string().optional(),
  trustedProxies: z.array(z.string()).optional(),
  workerPort: z.number().int().min(0).max(65_535).optional(),
  workerHost: z.string().min(1).optional(),
  otel: z.boolean().optional(),
  boardReadOnly: z.boolean().optional(),
});

export interface Config {
  redisUrl: string;
  prefix: string;
  stateSchema: string;
  logLevel: (typeof LOG_LEVELS)[number];
  apiToken: string | null;
  /** The header in which a proxy names the user that it has checked; null: no such proxy. */
  trustedUserHeader: string | null;
  /** Addresses and networks of such proxies. */
  trustedProxies: readonly string[];
  /** Of a worker's own `/healthz`, `/readyz` and `/metrics`; 0 takes a free one, null opens none. */
  workerPort: number | null;
  workerHost: string;
  /** Whether this process sends traces by OpenTelemetry. */
  otel: boolean;
  /** The board shows and changes nothing. */
  boardReadOnly: boolean;
  /** By upper-case name. */
  connections: ReadonlyMap<string, ServerAddress>;
  /** What all workers together may do to a server at once, by upper-case name of the connection. */
  limits: ReadonlyMap<string, ServerLimitSettings>;
}

/** Null: no limit. */
export interface ServerLimitSettings {
  connections: number | null;
  /** Sessions at work; a session runs one statement at a time. */
  statements: number | null;
}

/** What the settings file may hold. */
export type SettingsFile = z.output<typeof settingsFile>;

/**
 * Reads the settings.
 * @throws DroverError CONFIG_INVALID or SPEC_INVALID (a wrong key of the file), with everything that is wrong; messages never hold a URL or a password
 */
export function loadConfig(environment: NodeJS.ProcessEnv): Config {
  const { config, errors } = readConfig(environment);
  const [first] = errors;
  if (first === undefined) return config;
  if (errors.length === 1) throw first;
  const problems = settingsProblems(errors);
  throw new DroverError("CONFIG_INVALID", `the settings are not valid: ${problems.map((problem) => problem.message).join("; ")}`, { problems });
}

/** The settings as far as they can be read, with the defaults in the places of what is wrong, and without the connections that are. */
export function readConfig(environment: NodeJS.ProcessEnv): { config: Config; errors: DroverError[] } {
  const errors: DroverError[] = [];
  const attempt = <T>(read: () => T, otherwise: T): T => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof DroverError)) throw error;
      errors.push(error);
      return otherwise;
    }
  };
  const file = attempt(() => readSettingsFile(environment), {});
  const config: Config = {
    redisUrl: attempt(() => readRedisUrl(environment, file), DEFAULT_REDIS_URL),
    prefix: environment["DROVER_PREFIX"] ?? file.prefix ?? "drover",
    stateSchema: attempt(() => readStateSchema(environment, file), DEFAULT_STATE_SCHEMA),
    logLevel: attempt(() => readLogLevel(environment, file), "info"),
    // Set but empty is not set: a template that was not filled in must not be a token.
    apiToken: filled(environment["DROVER_API_TOKEN"]) ?? filled(file.apiToken) ?? null,
    ...attempt(() => readProxy(environment, file), { trustedUserHeader: null, trustedProxies: [] }),
    workerPort: attempt(() => readPort("DROVER_WORKER_PORT", environment["DROVER_WORKER_PORT"]), null) ?? file.workerPort ?? null,
    workerHost: environment["DROVER_WORKER_HOST"] ?? file.workerHost ?? "127.0.0.1",
    boardReadOnly: attempt(() => readSwitch("DROVER_BOARD_READ_ONLY", environment["DROVER_BOARD_READ_ONLY"]), null) ?? file.boardReadOnly ?? false,
    otel: attempt(() => readSwitch("DROVER_OTEL", environment["DROVER_OTEL"]), null) ?? file.otel ?? (environment["OTEL_EXPORTER_OTLP_ENDPOINT"] ?? environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] ?? "") !== "",
    connections: readConnections(environment, file.connections ?? {}, attempt),
    limits: attempt(() => readLimits(environment, file.limits ?? {}), new Map()),
  };
  return { config, errors };
}

/** For a command that asks no server: other settings may be wrong. @throws DroverError CONFIG_INVALID, SPEC_INVALID */
export function loadStateSchema(environment: NodeJS.ProcessEnv): string {
  return readStateSchema(environment, environment["DROVER_STATE_SCHEMA"] === undefined ? readSettingsFile(environment) : {});
}

/** What is wrong, one by one. */
export function settingsProblems(errors: readonly DroverError[]): Problem[] {
  return errors.flatMap((error) => (error.problems.length > 0 ? error.problems : [{ code: error.code, message: error.message, cure: error.cure ?? "" }]));
}

const DEFAULT_REDIS_URL = "redis://127.0.0.1:6379";
const DEFAULT_STATE_SCHEMA = "drover";

function readRedisUrl(environment: NodeJS.ProcessEnv, file: SettingsFile): string {
  const url = environment["DROVER_REDIS_URL"] ?? file.redisUrl ?? DEFAULT_REDIS_URL;
  if (/^rediss?:\/\//.test(url) && URL.canParse(url)) return url;
  throw new DroverError("CONFIG_INVALID", `DROVER_REDIS_URL must be a URL that begins with redis:// or rediss://${/^rediss?:\/\//.test(url) ? ", and this one cannot be read" : ""}`, {
    cure: `set it to redis://host:6379, or redis://:password@host:6379/0; ${ENCODE}`,
  });
}

function readStateSchema(environment: NodeJS.ProcessEnv, file: SettingsFile): string {
  const stateSchema = environment["DROVER_STATE_SCHEMA"] ?? file.stateSchema ?? DEFAULT_STATE_SCHEMA;
  if (/^[A-Za-z0-9_$]{1,64}$/.test(stateSchema)) return stateSchema;
  throw new DroverError("CONFIG_INVALID", "DROVER_STATE_SCHEMA must be 1 to 64 of A-Z, a-z, 0-9, _ and $", { cure: `leave it away (${DEFAULT_STATE_SCHEMA}), or choose another name` });
}

function readLogLevel(environment: NodeJS.ProcessEnv, file: SettingsFile): Config["logLevel"] {
  const level = environment["DROVER_LOG_LEVEL"] ?? file.logLevel ?? "info";
  if ((LOG_LEVELS as readonly string[]).includes(level)) return level as Config["logLevel"];
  throw new DroverError("CONFIG_INVALID", `DROVER_LOG_LEVEL is "${bounded(level, 80)}"`, { cure: `use one of ${LOG_LEVELS.join(", ")}` });
}

function filled(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

/** Both settings or none: a header that everybody could write would let everybody in. */
function readProxy(environment: NodeJS.ProcessEnv, file: SettingsFile): Pick<Config, "trustedUserHeader" | "trustedProxies"> {
  const trustedUserHeader = filled(environment["DROVER_TRUSTED_USER_HEADER"]) ?? filled(file.trustedUserHeader) ?? null;
  const trustedProxies = filled(environment["DROVER_TRUSTED_PROXIES"])?.split(",").map((proxy) => proxy.trim()) ?? file.trustedProxies ?? [];
  if (trustedUserHeader !== null && !/^[A-Za-z0-9-]+$/.test(trustedUserHeader)) throw new DroverError("CONFIG_INVALID", "DROVER_TRUSTED_USER_HEADER must be the name of a header", { cure: "set it to a name such as x-forwarded-user" });
  if (trustedUserHeader !== null && trustedProxies.length === 0)
    throw new DroverError("CONFIG_INVALID", "DROVER_TRUSTED_USER_HEADER needs DROVER_TRUSTED_PROXIES", { cure: "list the addresses or networks of the proxies that set the header, with commas" });
  for (const proxy of trustedProxies)
    if (!isNetwork(proxy)) throw new DroverError("CONFIG_INVALID", `DROVER_TRUSTED_PROXIES: "${bounded(proxy, 80)}" is no address or network`, { cure: "write addresses such as 10.0.0.7 or networks such as 10.0.0.0/8" });
  return { trustedUserHeader, trustedProxies };
}

function isNetwork(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  return family !== 0 && rest.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32)));
}

function readPort(variable: string, value: string | undefined): number | null {
  if (value === undefined || value === "") return null;
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value);
  throw new DroverError("CONFIG_INVALID", `${variable} must be a port, 0 to 65535`, { cure: "set it to a number such as 9464, or leave it away" });
}

function readSwitch(variable: string, value: string | undefined): boolean | null {
  if (value === undefined || value === "") return null;
  if (/^(?:1|on|true|yes)$/i.test(value)) return true;
  if (/^(?:0|off|false|no)$/i.test(value)) return false;
  throw new DroverError("CONFIG_INVALID", `${variable} must be on or off`, { cure: "set it to on or off, or leave it away" });
}

function readSettingsFile(environment: NodeJS.ProcessEnv): SettingsFile {
  const path = environment["DROVER_CONFIG"];
  if (path === undefined) return {};
  let parsed: unknown;
  try {
    parsed = parseYaml(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new DroverError("CONFIG_INVALID", `the settings file ${path} (DROVER_CONFIG) cannot be read`, { cure: "it must be YAML or JSON", cause });
  }
  return parseContract(settingsFile, parsed ?? {}, `the settings file ${path}`);
}

/** @param attempt keeps what is wrong with one of them */
function readConnections(environment: NodeJS.ProcessEnv, fromFile: Record<string, string>, attempt: <T>(read: () => T, otherwise: T) => T): Map<string, ServerAddress> {
  const urls = new Map<string, string>();
  for (const [name, url] of Object.entries(fromFile)) urls.set(name.toUpperCase(), url);
  for (const [variable, value] of Object.entries(environment)) {
    const match = /^DROVER_CONNECTION_(.+?)(_FILE)?$/.exec(variable);
    if (!match || value === undefined || value === "") continue;
    const name = (match[1] as string).toUpperCase();
    const url = attempt(() => readUrl(environment, match[1] as string, match[2] !== undefined), null);
    if (url !== null) urls.set(name, url);
    else urls.delete(name);
  }
  const addresses = [...urls].map(([name, url]): [string, ServerAddress | null] => [name, attempt(() => parseServerUrl(name, url.trim()), null)]);
  return new Map(addresses.filter((entry): entry is [string, ServerAddress] => entry[1] !== null));
}

/** `_FILE` keeps the password out of the process list and the environment of children. */
function readUrl(environment: NodeJS.ProcessEnv, key: string, fromFile: boolean): string {
  const name = key.toUpperCase();
  const direct = environment[`DROVER_CONNECTION_${key}`] ?? "";
  const path = environment[`DROVER_CONNECTION_${key}_FILE`] ?? "";
  if (!fromFile) return direct;
  if (direct === "") return readUrlFile(name, path);
  throw new DroverError("CONFIG_INVALID", `connection ${name}: both DROVER_CONNECTION_${name} and DROVER_CONNECTION_${name}_FILE are set`, {
    cure: "unset one of them: which of the two is right cannot be told",
  });
}

function readLimits(environment: NodeJS.ProcessEnv, fromFile: Record<string, z.output<typeof serverLimits>>): Map<string, ServerLimitSettings> {
  const limits = new Map(Object.entries(fromFile).map(([name, limit]) => [name.toUpperCase(), { connections: limit.connections ?? null, statements: limit.statements ?? null }]));
  for (const [variable, value] of Object.entries(environment)) {
    const name = /^DROVER_LIMITS_(.+)$/.exec(variable)?.[1]?.toUpperCase();
    if (name !== undefined && value !== undefined && value !== "") limits.set(name, parseLimits(variable, value));
  }
  return limits;
}

/** `connections=40,statements=8`, or one of them. */
function parseLimits(variable: string, text: string): ServerLimitSettings {
  const limits: ServerLimitSettings = { connections: null, statements: null };
  for (const part of text.split(",")) {
    const [, key, number] = /^\s*(connections|statements)\s*=\s*([1-9]\d{0,5})\s*$/.exec(part) ?? [];
    if (key === undefined) throw new DroverError("CONFIG_INVALID", `${variable} is "${text}"`, { cure: "write connections=40,statements=8, or one of the two" });
    limits[key as "connections" | "statements"] = Number(number);
  }
  return limits;
}

const FILE_ERRORS: Record<string, string> = {
  ENOENT: "there is no such file (ENOENT)",
  EACCES: "this user may not read it (EACCES)",
  EISDIR: "it is a folder (EISDIR)",
};

function readUrlFile(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new DroverError("CONFIG_INVALID", `connection ${name}: the file ${path} (DROVER_CONNECTION_${name}_FILE) cannot be read: ${FILE_ERRORS[code ?? ""] ?? code ?? message}`, {
      cure: "give the path of a file that this user may read; it holds mysql://user:password@host:port/",
      cause,
    });
  }
}

/** The address of a named connection. @throws DroverError CONFIG_INVALID with the names that exist */
export function connectionAddress(config: Config, name: string): ServerAddress {
  const address = config.connections.get(name.toUpperCase());
  if (address) return address;
  const known = [...config.connections.keys()];
  throw new DroverError("CONFIG_INVALID", `unknown connection "${name}"`, {
    cure: `set DROVER_CONNECTION_${name.toUpperCase()}${known.length === 0 ? "" : `, or use one of ${known.join(", ")}`}`,
  });
}
