/** Cures that change a server's setting. */
import type { ServerFacts } from "./server-facts.js";
import { atLeast } from "./server-version.js";

/** For a variable that the running server lets change, kept over a restart. */
export function setVariable(server: ServerFacts, name: string, value: string): string {
  const literal = /^\d+$/.test(value) || /^(on|off)$/i.test(value) ? value : `'${value}'`;
  if (server.version.flavor === "mysql" && atLeast(server.version, 8)) return `on ${server.name} run: SET PERSIST ${name} = ${literal};`;
  return `on ${server.name} run: SET GLOBAL ${name} = ${literal}; and put "${name} = ${value}" under [mysqld] in its configuration file`;
}

/** For a variable that is read at the server's start only. */
export function configure(server: ServerFacts, lines: readonly string[]): string {
  return `put ${lines.map((line) => `"${line}"`).join(", ")} under [mysqld] in the configuration file of ${server.name}, and restart it`;
}

/** Sessions that are open keep the old value of a variable that has one per session. */
export const RECONNECT = "; then let the application reconnect: its open sessions keep the old value";
