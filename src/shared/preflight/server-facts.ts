/** Everything that the checks ask of one server, read once. */
import type { ByteSql } from "../mysql/bytes.js";
import { readServerIdentity, type ServerIdentity } from "../mysql/server-identity.js";
import type { Session } from "../mysql/session.js";
import { Privileges } from "./privileges.js";
import { atLeast, parseServerVersion, type ServerVersion } from "./server-version.js";

export interface ServerFacts {
  /** The connection's name in the settings. */
  name: string;
  /** Our account as GRANT wants it: `'drover'@'%'`. */
  account: string;
  version: ServerVersion;
  /** Global variables by lower-case name; a variable that the version does not have is undefined. */
  variables: ReadonlyMap<string, string>;
  privileges: Privileges;
  collations: ReadonlySet<string>;
  /** The server's clock less ours, in milliseconds. */
  clockOffset: number;
  identity: ServerIdentity;
  /** The server does not tell schema and table names by case. */
  ignoreCase: boolean;
}

export async function readServerFacts(session: Session): Promise<ServerFacts> {
  // Else names in SHOW GRANTS may come without quotes.
  await session.run("SET SESSION sql_quote_show_create=1" as ByteSql);
  const version = parseServerVersion(session.version, session.isMariaDb);
  const clockOffset = await readClockOffset(session);
  const variables = new Map((await session.rows("SHOW GLOBAL VARIABLES" as ByteSql)).map((row) => [(row["Variable_name"] ?? "").toLowerCase(), row["Value"] ?? ""]));
  const ignoreCase = variables.get("lower_case_table_names") !== "0";
  const [user] = await session.rows("SELECT CURRENT_USER() AS account" as ByteSql);
  return {
    name: session.server,
    account: quotedAccount(user?.["account"] ?? ""),
    version,
    variables,
    privileges: await readPrivileges(session, version, { partialRevokes: isOn(variables.get("partial_revokes")), ignoreCase }),
    collations: await readCollations(session),
    clockOffset,
    identity: await readServerIdentity(session),
    ignoreCase,
  };
}

/** Whether a variable's value means yes. */
export function isOn(value: string | undefined): boolean {
  return value !== undefined && /^(on|1|yes|true)$/i.test(value);
}

async function readPrivileges(session: Session, version: ServerVersion, options: { partialRevokes: boolean; ignoreCase: boolean }): Promise<Privileges> {
  const grants = (await session.rows("SHOW GRANTS" as ByteSql)).map((row) => Object.values(row)[0] ?? "");
  const knowsRoles = version.flavor === "mariadb" || atLeast(version, 8);
  const [role] = knowsRoles ? await session.rows("SELECT CURRENT_ROLE() AS active_role" as ByteSql) : [];
  return new Privileges(grants, { ...options, roles: ![undefined, null, "", "NONE"].includes(role?.["active_role"]) });
}

async function readCollations(session: Session): Promise<Set<string>> {
  const rows = await session.rows("SELECT * FROM information_schema.COLLATION_CHARACTER_SET_APPLICABILITY" as ByteSql);
  // MariaDB 10.10+ names its UCA 14 collations without the character set here, and with it in the second column.
  return new Set(rows.flatMap((row) => [row["COLLATION_NAME"], row["FULL_COLLATION_NAME"]]).filter((name): name is string => typeof name === "string"));
}

async function readClockOffset(session: Session): Promise<number> {
  const before = Date.now();
  const [row] = await session.rows("SELECT UNIX_TIMESTAMP(NOW(6)) AS clock" as ByteSql);
  const after = Date.now();
  return Math.round(Number(row?.["clock"]) * 1000 - (before + after) / 2);
}

/** `u@h` to `'u'@'h'`; a user's name may hold an `@`, a host's may not. */
function quotedAccount(account: string): string {
  const at = account.lastIndexOf("@");
  const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;
  return `${quote(account.slice(0, at))}@${quote(account.slice(at + 1))}`;
}
