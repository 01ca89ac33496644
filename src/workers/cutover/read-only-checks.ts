/** Whether the source can be made read-only, or else that somebody must see to its writers; and whom `read_only` does not stop. */
import { failure, warning, type Finding } from "../../shared/preflight/finding.js";
import type { ServerFacts } from "../../shared/preflight/server-facts.js";
import type { CheckScope } from "./check-scope.js";
import { privilegedWriters } from "./privileged-writers.js";
import { isClosed, readSwitches } from "./read-only.js";

/** Accounts named in one finding. */
const MAX_NAMED = 20;

export async function readOnlyFindings(scope: CheckScope): Promise<Finding[]> {
  const { context, migration, options, preflight, signal } = scope;
  const { source } = preflight;
  if (source === null) return [];
  const { name, account, privileges, version } = source;
  const switches = await context.connections.use(migration.spec.source, "source", signal, readSwitches);
  const findings: Finding[] = [];
  if (!options.readOnly) {
    if (!switches.readOnly) findings.push(warning("source-writable", `${name} takes writes: what is committed there after the end is lost to ${migration.spec.target}`, "stop its writers first, or let Drover do it with --read-only"));
    return findings;
  }
  const mariadb = version.flavor === "mariadb";
  if (!isClosed(switches) && !["SUPER", mariadb ? "READ_ONLY ADMIN" : "SYSTEM_VARIABLES_ADMIN"].some((privilege) => privileges.has(privilege, "global"))) {
    const privilege = mariadb ? "READ_ONLY ADMIN" : version.major < 8 ? "SUPER" : "SYSTEM_VARIABLES_ADMIN";
    findings.push(failure("grant-missing", `${name}: the user ${account} has no ${privilege}, which --read-only needs`, `on ${name} run: GRANT ${privilege} ON *.* TO ${account}; or stop the writers yourself`));
  }
  // For the migration back super_read_only is lifted at the end.
  if (switches.superReadOnly === null || options.reverse !== null) findings.push(...(await administratorFindings(scope, source, migration.spec.source)));
  return findings;
}

/** Of a server that is to stay as Drover writes it, with no more than `read_only` to keep others out: who writes there all the same. */
export async function administratorFindings({ context, signal }: CheckScope, server: ServerFacts, connection: string): Promise<Finding[]> {
  const { name, account, version } = server;
  const { accounts, connected } = await context.connections.use(connection, "source", signal, (session) => privilegedWriters(session, server));
  const privilege = version.flavor === "mariadb" ? "READ ONLY ADMIN" : version.major < 8 ? "SUPER" : "SUPER or CONNECTION_ADMIN";
  const sessions = connected === null || connected.size === 0 ? "" : `; connected there now: ${[...connected].map(([user, n]) => `${user} (${n})`).join(", ")}`;
  if (accounts !== null && accounts.length === 0) return [];
  if (accounts !== null) {
    const more = accounts.length > MAX_NAMED ? `, and ${accounts.length - MAX_NAMED} more` : "";
    return [
      warning(
        "read-only-administrators", `${name}: read_only does not stop ${accounts.slice(0, MAX_NAMED).join(", ")}${more} (${privilege})${sessions}`,
        `see that none of them writes to ${name} from the cut-over on: take the privilege away from what the application logs in with, or lock the account (ALTER USER … ACCOUNT LOCK)`,
      ),
    ];
  }
  return [
    warning(
      "read-only-administrators", `${name}: read_only does not stop accounts with ${privilege}; which ones have it cannot be seen: the user ${account} has no SELECT on mysql.*${sessions}`,
      `see that none of them writes to ${name} from the cut-over on; as an administrator: SELECT GRANTEE, PRIVILEGE_TYPE FROM information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE IN ('SUPER', 'CONNECTION_ADMIN', 'READ ONLY ADMIN', 'READ_ONLY ADMIN'); and SHOW PROCESSLIST;`,
    ),
  ];
}
