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
    if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) throw withoutScheme(name);
    throw invalid(name, "is not a URL that can be read", cause);
  }
  // `host:3306` reads as a URL of the scheme `host:`.
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) throw withoutScheme(name);
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

/** What may be done about a server that does not let us in, or is not there. */
export function connectionCures(name: string): { login: string; network: string } {
  const variable = `DROVER_CONNECTION_${name.toUpperCase()}`;
  return {
    login: `correct user, password and ssl in ${variable}, or create the user on that server (docs/grants.md)`,
    network: `see that the server runs and can be reached from here, and that host, port and ssl in ${variable} are right`,
  };
}

/** What a URL cannot hold as it is. */
export const ENCODE = "percent-encode special characters in user and password: / is %2F, @ is %40, : is %3A, # is %23, ? is %3F, % is %25";

function withoutScheme(name: string): DroverError {
  return invalid(name, "does not begin with mysql://");
}

function invalid(name: string, what: string, cause?: unknown): DroverError {
  return new DroverError("CONFIG_INVALID", `connection ${name} ${what}`, {
    cure: `set DROVER_CONNECTION_${name} to mysql://user:password@host:port/; ${ENCODE}`,
    cause: cause instanceof Error ? new Error(cause.name) : undefined,
  });
}
