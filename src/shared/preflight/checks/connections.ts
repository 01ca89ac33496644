/** The spec's connections are known, answer, and let us in. */
import { connectionAddress } from "../../config.js";
import type { DroverError } from "../../errors.js";
import { connectionCures } from "../../mysql/server-address.js";
import { LOGIN_REFUSED } from "../../mysql/server-error.js";
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
  const cures = connectionCures(name);
  if (LOGIN_REFUSED.has(error.errno ?? 0))
    return [failure("connection-login", `${error.message}: ${host}:${port} does not let the user ${user} in`, cures.login)];
  if (error.code !== "CONNECTION_LOST") return [failure("connection-refused", withName(error, name), "see what the server's error means, and run the check again")];
  return [failure("connection-failed", error.message.includes(`${host}:${port}`) ? withName(error, name) : `${withName(error, name)} (${host}:${port})`, cures.network)];
}

function withName(error: DroverError, name: string): string {
  return error.message.startsWith(`${name}:`) ? error.message : `${name}: ${error.message}`;
}
