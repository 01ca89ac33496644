/** The spec's connections are known, answer, and let us in. */
import { connectionAddress } from "../../config.js";
import type { DroverError } from "../../errors.js";
import type { Check } from "../check.js";
import type { PreflightContext } from "../context.js";
import { failure, type Finding } from "../finding.js";

export const connections: Check = {
  name: "connections",
  run: (context) => [...new Set([context.spec.source, context.spec.target])].flatMap((name) => connectionFindings(context, name)),
};

function connectionFindings(context: PreflightContext, name: string): Finding[] {
  const error = context.unreachable.get(name);
  if (error === undefined) return [];
  if (!context.config.connections.has(name.toUpperCase())) return [failure("connection-unknown", error.message, error.cure ?? "")];
  const { host, port, user } = connectionAddress(context.config, name);
  const variable = `DROVER_CONNECTION_${name.toUpperCase()}`;
  if (LOGIN_REFUSED.has(error.errno ?? 0))
    return [failure("connection-login", `${error.message}: ${host}:${port} does not let the user ${user} in`, `correct user, password and ssl in ${variable}, or create the user on that server (docs/grants.md)`)];
  if (error.code !== "CONNECTION_LOST") return [failure("connection-refused", withName(error, name), "see what the server's error means, and run the check again")];
  return [failure("connection-failed", error.message.includes(`${host}:${port}`) ? withName(error, name) : `${withName(error, name)} (${host}:${port})`, `see that the server runs and can be reached from here, and that host, port and ssl in ${variable} are right`)];
}

/** Wrong password, unknown database, host not allowed, host blocked, TLS demanded, account locked, password expired. */
const LOGIN_REFUSED = new Set([1045, 1044, 1130, 1129, 1698, 3118, 3159, 1820, 1862, 4151]);

function withName(error: DroverError, name: string): string {
  return error.message.startsWith(`${name}:`) ? error.message : `${name}: ${error.message}`;
}
