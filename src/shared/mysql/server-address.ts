/** Where a MySQL or MariaDB server is: the parsed form of a connection URL. */
import { DroverError } from "../errors.js";

export interface ServerAddress {
  /** The connection's name in the settings (`SRC`). */
  name: string;
  host: string;
  port: number;
  user: string;
  password: string;
  /** TLS: off, required with any certificate, or required and verified (optionally against a CA file). */
  ssl: { mode: "off" | "required" | "verify"; caFile: string | null };
}

/**
 * Parses `mysql://user:password@host:port/?ssl=off|required|verify&sslCa=FILE`.
 * @throws DroverError CONFIG_INVALID; the message never holds the URL, which holds the password
 */
export function parseServerUrl(name: string, url: string): ServerAddress {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch (cause) {
    throw invalid(name, "is not a URL", cause);
  }
  if (!["mysql:", "mariadb:"].includes(parsed.protocol)) throw invalid(name, `has the scheme "${parsed.protocol}"`);
  if (parsed.hostname === "" || parsed.username === "") throw invalid(name, "needs a user and a host");
  const mode = parsed.searchParams.get("ssl") ?? "off";
  if (mode !== "off" && mode !== "required" && mode !== "verify") throw invalid(name, `has ssl=${mode}; known are off, required and verify`);
  for (const key of parsed.searchParams.keys()) if (key !== "ssl" && key !== "sslCa") throw invalid(name, `has the unknown parameter "${key}"`);
  return {
    name,
    host: parsed.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: parsed.port === "" ? 3306 : Number(parsed.port),
    user: decoded(name, parsed.username),
    password: decoded(name, parsed.password),
    ssl: { mode, caFile: parsed.searchParams.get("sslCa") },
  };
}

function decoded(name: string, part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid(name, "has a per cent sign in its user or password that is not escaped (%25)");
  }
}

function invalid(name: string, what: string, cause?: unknown): DroverError {
  return new DroverError("CONFIG_INVALID", `connection ${name} ${what}`, {
    cure: `set DROVER_CONNECTION_${name} to mysql://user:password@host:port/`,
    cause: cause instanceof Error ? new Error(cause.name) : undefined,
  });
}
