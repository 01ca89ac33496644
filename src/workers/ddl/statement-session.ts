/**
 * Gives a session of the target the settings that a statement had on the source, as replication does: its bytes then mean
 * the same, its defaults are the same, and CURRENT_TIMESTAMP is when it ran on the source.
 */
import { DroverError } from "../../shared/errors.js";
import { sql, textLiteral, type ByteSql } from "../../shared/mysql/bytes.js";
import type { BatchStatement } from "../../shared/backlog/batch.js";
import type { Session } from "../../shared/mysql/session.js";
import type { AskSource } from "./statement-text.js";

/** Bits of `sql_mode` that mean the same on all servers, by name. Modes that servers have given up are left out. */
const SQL_MODES: readonly (readonly [bigint, string])[] = [
  [0x1n, "REAL_AS_FLOAT"], [0x2n, "PIPES_AS_CONCAT"], [0x4n, "ANSI_QUOTES"], [0x8n, "IGNORE_SPACE"], [0x40n, "NO_UNSIGNED_SUBTRACTION"],
  [0x80n, "NO_DIR_IN_CREATE"], [0x80000n, "NO_AUTO_VALUE_ON_ZERO"], [0x100000n, "NO_BACKSLASH_ESCAPES"], [0x200000n, "STRICT_TRANS_TABLES"],
  [0x400000n, "STRICT_ALL_TABLES"], [0x800000n, "NO_ZERO_IN_DATE"], [0x1000000n, "NO_ZERO_DATE"], [0x2000000n, "ALLOW_INVALID_DATES"],
  [0x4000000n, "ERROR_FOR_DIVISION_BY_ZERO"], [0x20000000n, "HIGH_NOT_PRECEDENCE"], [0x40000000n, "NO_ENGINE_SUBSTITUTION"], [0x80000000n, "PAD_CHAR_TO_FULL_LENGTH"],
];

/** `utf8mb4_general_ci`: what `utf8mb4` alone means on servers that have no setting for it. */
const OLD_UTF8MB4_COLLATION = 45;

export async function prepareSession(session: Session, statement: BatchStatement, ask: AskSource): Promise<void> {
  const mode = BigInt(statement.sqlMode);
  const modes = SQL_MODES.filter(([bit]) => (mode & bit) !== 0n).map(([, name]) => name);
  const settings = [`sql_mode='${modes.join(",")}'`, `timestamp=${statement.timestamp}`, "lock_wait_timeout=10"];
  const zone = await timeZone(session, statement, ask);
  if (zone !== null) settings.push(`time_zone=${textLiteral(zone)}`);
  settings.push(...(await restrictedSettings(session, statement, ask)));
  const names = await collations(session, [statement.clientCollation, statement.connectionCollation]);
  const client = nameOf(names, statement.clientCollation);
  const connection = nameOf(names, statement.connectionCollation);
  settings.push(`character_set_client=${client.charset}`, `collation_connection=${connection.collation}`);
  await session.run(`SET ${settings.map((setting) => `SESSION ${setting}`).join(", ")}` as ByteSql);
}

/** Settings that need a privilege: only where the target's are others. */
async function restrictedSettings(session: Session, statement: BatchStatement, ask: AskSource): Promise<string[]> {
  const settings: string[] = [];
  const variables = new Map(
    (await session.rows(sql`SHOW SESSION VARIABLES WHERE Variable_name IN ('default_collation_for_utf8mb4', 'explicit_defaults_for_timestamp', 'sql_generate_invisible_primary_key')`)).map((row) => [
      row["Variable_name"], row["Value"],
    ]),
  );
  // The binlog's statement names the column that the source made up.
  if (variables.get("sql_generate_invisible_primary_key") === "ON") settings.push("sql_generate_invisible_primary_key=OFF");
  const collation = variables.get("default_collation_for_utf8mb4");
  if (collation !== undefined) {
    const id = statement.utf8mb4Collation ?? OLD_UTF8MB4_COLLATION;
    const name = nameOf(await collations(session, [id]), id).collation;
    if (name !== collation) settings.push(`default_collation_for_utf8mb4=${name}`);
  }
  const explicit = statement.explicitDefaults ?? (await ask(readExplicitDefaults));
  if (explicit !== null && variables.has("explicit_defaults_for_timestamp") && (variables.get("explicit_defaults_for_timestamp") === "ON") !== explicit)
    settings.push(`explicit_defaults_for_timestamp=${explicit ? "ON" : "OFF"}`);
  return settings;
}

/** MySQL 8.0 and later say it with each statement that depends on it; older servers and MariaDB only have the setting. */
async function readExplicitDefaults(session: Session): Promise<boolean | null> {
  if (!session.isMariaDb && !/^5\./.test(session.version)) return null;
  const [row] = await session.rows("SELECT @@SESSION.explicit_defaults_for_timestamp AS flag" as ByteSql);
  return row?.["flag"] === "1";
}

interface CollationName {
  id: number;
  collation: string;
  charset: string;
}

/** Ids are the same on all servers, names are not (`utf8` is `utf8mb3` by now). */
async function collations(session: Session, ids: number[]): Promise<CollationName[]> {
  const rows = await session.rows(sql`SELECT ID AS id, COLLATION_NAME AS collation, CHARACTER_SET_NAME AS charset FROM information_schema.COLLATIONS WHERE ID IN (${ids.join(",") as ByteSql})`);
  return rows.map((row) => ({ id: Number(row["id"]), collation: row["collation"] ?? "", charset: row["charset"] ?? "" }));
}

function nameOf(names: readonly CollationName[], id: number): CollationName {
  const found = names.find((name) => name.id === id);
  if (found === undefined) throw new DroverError("DDL_UNSUPPORTED", `the target does not know the collation ${id}, which a statement of the source uses`, { cure: "use a target of the same version or a later one" });
  return found;
}

/** Null where the statement does not depend on it. `SYSTEM` is the source's zone, by which the target's must not be taken. */
async function timeZone(session: Session, statement: BatchStatement, ask: AskSource): Promise<string | null> {
  if (statement.timeZone !== "SYSTEM") return statement.timeZone;
  const theirs = await ask(zoneOffsets);
  const constant = theirs.every((offset) => offset === theirs[0]);
  if (constant) return theirs[0] as string;
  const ours = await zoneOffsets(session);
  if (ours.every((offset, i) => offset === theirs[i])) return "SYSTEM";
  if (!/timestamp|datetime|\bnow\b|localtime|curdate|curtime|current_/i.test(statement.sql)) return null;
  throw new DroverError("DDL_UNSUPPORTED", `transaction ${statement.gtid} is DDL that depends on the time zone of the source's system, which the target does not have`, {
    cure: "set time_zone on the source to an offset such as '+00:00', or run both systems in one zone",
  });
}

/** How far the system's zone is from UTC in winters and summers of several decades, as `+hh:mm`. */
async function zoneOffsets(session: Session): Promise<string[]> {
  const dates = [1975, 1990, 2005, 2020, 2035].flatMap((year) => [`${year}-01-15 12:00:00`, `${year}-07-15 12:00:00`]);
  const columns = dates.map((date, i) => `TIMESTAMPDIFF(MINUTE, '${date}', CONVERT_TZ('${date}', '+00:00', 'SYSTEM')) AS m${i}`);
  const [row] = await session.rows(`SELECT ${columns.join(", ")}` as ByteSql);
  return dates.map((_, i) => offsetText(Number(row?.[`m${i}`] ?? 0)));
}

function offsetText(minutes: number): string {
  const size = Math.abs(minutes);
  const pad = (n: number) => String(n).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
}
