/** The settings that an object had at its creation, given to the session that creates it again. */
import type { ByteSql } from "../mysql/bytes.js";
import { sql, textLiteral } from "../mysql/bytes.js";
import { DroverError } from "../errors.js";
import type { Session } from "../mysql/session.js";
import { objectLabel, type DatabaseObject } from "./database-object.js";

/** Modes that servers have given up; they never mattered to a stored object. */
const GIVEN_UP = new Set(["", "NO_AUTO_CREATE_USER", "NO_FIELD_OPTIONS", "NO_KEY_OPTIONS", "NO_TABLE_OPTIONS", "MYSQL323", "MYSQL40", "POSTGRESQL", "ORACLE", "MSSQL", "DB2", "MAXDB"]);

/** In a form that compares: the same on all servers for the same settings. */
export function settingsOf(object: DatabaseObject): (string | null)[] {
  const utf8 = (name: string | null) => name?.replace(/^utf8(?=_|$)/, "utf8mb3") ?? null;
  return [modesOf(object).sort().join(","), utf8(object.characterSet), utf8(object.collation), utf8(object.databaseCollation), object.timeZone];
}

function modesOf(object: DatabaseObject): string[] {
  return object.sqlMode.split(",").filter((mode) => !GIVEN_UP.has(mode));
}

/** One SET; the session's default schema and the collation of that are for the caller to see to. */
export function settingsStatement(object: DatabaseObject, collations: ReadonlySet<string>): ByteSql {
  const settings = [
    `SESSION sql_mode='${modesOf(object).join(",")}'`,
    `SESSION character_set_client=${object.characterSet}`,
    `SESSION collation_connection=${knownCollation(object, object.collation, collations)}`,
    ...(object.timeZone === null ? [] : [`SESSION time_zone=${textLiteral(object.timeZone)}`]),
  ];
  return `SET ${settings.join(", ")}` as ByteSql;
}

/** A collation under the name that the target gives it: `utf8_…` and `utf8mb3_…` are the same. @throws DroverError STATEMENT_REFUSED */
export function knownCollation(object: DatabaseObject, collation: string, collations: ReadonlySet<string>): string {
  const other = collation.startsWith("utf8_") ? collation.replace("utf8_", "utf8mb3_") : collation.replace(/^utf8mb3_/, "utf8_");
  const known = [collation, other].find((name) => collations.has(name));
  if (known !== undefined) return known;
  throw new DroverError("STATEMENT_REFUSED", `the target does not know the collation ${collation} of the ${objectLabel(object)}`, { cure: "create it anew on the source under a collation that both servers know, or use another target" });
}

/** Names of all collations of a server. */
export async function readCollationNames(session: Session): Promise<Set<string>> {
  const rows = await session.rows(sql`SELECT COLLATION_NAME AS name FROM information_schema.COLLATIONS`);
  return new Set(rows.map((row) => row["name"] ?? ""));
}
