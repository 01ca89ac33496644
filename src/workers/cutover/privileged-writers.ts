/** Accounts that go on writing while `read_only` is ON and `super_read_only` is not: by grants, where ours may see them, else by who is connected. */
import type { ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import type { ServerFacts } from "../../shared/preflight/server-facts.js";
import { atLeast } from "../../shared/preflight/server-version.js";

/** The server's own accounts, which nobody logs in with. */
const OWN = /^'(?:mysql\.(?:session|sys|infoschema)|mariadb\.sys)'@/;

export interface PrivilegedWriters {
  /** As GRANT wants them; null: the grants of others cannot be seen. Without the server's own accounts, locked ones and ours. */
  accounts: string[] | null;
  /** Users of open sessions with their number, without ours; null: they cannot be seen. */
  connected: ReadonlyMap<string, number> | null;
}

export async function privilegedWriters(session: Session, server: ServerFacts): Promise<PrivilegedWriters> {
  const { privileges, account } = server;
  const accounts = privileges.has("SELECT", { schema: "mysql" }) ? await exemptAccounts(session, server) : null;
  if (!privileges.has("PROCESS", "global")) return { accounts, connected: null };
  const connected = new Map<string, number>();
  for (const row of await session.rows("SHOW PROCESSLIST" as ByteSql)) {
    const user = row["User"] ?? "";
    // Threads of the server itself have no account.
    if (["event_scheduler", "system user", "unauthenticated user"].includes(user) || account.startsWith(`'${user}'@`)) continue;
    connected.set(user, (connected.get(user) ?? 0) + 1);
  }
  return { accounts, connected };
}

/** With the privilege by themselves, or by a role, active or not: a session may set its roles. */
async function exemptAccounts(session: Session, { account, version }: ServerFacts): Promise<string[]> {
  const mariadb = version.flavor === "mariadb";
  const exempting = mariadb ? (atLeast(version, 10, 11) ? "'READ ONLY ADMIN','READ_ONLY ADMIN'" : "'SUPER','READ ONLY ADMIN','READ_ONLY ADMIN'") : "'SUPER','CONNECTION_ADMIN'";
  const exempt = new Set((await session.rows(`SELECT DISTINCT GRANTEE AS grantee FROM information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE IN (${exempting})` as ByteSql)).map((row) => row["grantee"] ?? ""));
  const memberships = mariadb
    ? await session.rows("SELECT CONCAT(\"'\", Role, \"'@''\") AS role, CONCAT(\"'\", User, \"'@'\", Host, \"'\") AS member FROM mysql.roles_mapping" as ByteSql)
    : version.major >= 8
      ? await session.rows("SELECT CONCAT(\"'\", FROM_USER, \"'@'\", FROM_HOST, \"'\") AS role, CONCAT(\"'\", TO_USER, \"'@'\", TO_HOST, \"'\") AS member FROM mysql.role_edges" as ByteSql)
      : [];
  // Roles may be granted to roles.
  for (let before = -1; before !== exempt.size; ) {
    before = exempt.size;
    for (const { role, member } of memberships) if (role != null && member != null && exempt.has(role)) exempt.add(member);
  }
  const locked = mariadb ? [] : await session.rows("SELECT CONCAT(\"'\", User, \"'@'\", Host, \"'\") AS account FROM mysql.user WHERE account_locked='Y'" as ByteSql);
  for (const row of locked) exempt.delete(row["account"] ?? "");
  return [...exempt].filter((name) => name !== account && !OWN.test(name) && !(mariadb && name.endsWith("@''"))).sort();
}
