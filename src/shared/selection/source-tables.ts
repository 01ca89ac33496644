/** What a schema of the source holds, by kind. */
import { sql, textLiteral, type ByteSql } from "../mysql/bytes.js";
import type { Session } from "../mysql/session.js";

/** `INFORMATION_SCHEMA.TABLES.TABLE_TYPE`: `BASE TABLE`, `VIEW`; on MariaDB also `SYSTEM VERSIONED` and `SEQUENCE`. */
export type TableKind = string;

export interface SourceSchema {
  /** As the server writes it. */
  name: string;
  /** Kinds by name, as the server writes it. The server shows only what the user has any privilege on. */
  tables: ReadonlyMap<string, TableKind>;
}

export interface SourceNames {
  /** The server does not tell names by case. */
  ignoreCase: boolean;
  /** Null when there is no such schema, or none that the user may see. */
  schema(name: string): SourceSchema | null;
}

/** Reads the names in `schemas`. */
export async function readSourceNames(session: Session, schemas: readonly string[]): Promise<SourceNames> {
  const ignoreCase = await ignoresCase(session);
  const found = new Map<string, SourceSchema>();
  for (const wanted of new Set(schemas.map((name) => fold(name, ignoreCase)))) {
    const schema = await readSchema(session, wanted, ignoreCase);
    if (schema !== null) found.set(wanted, schema);
  }
  return { ignoreCase, schema: (name) => found.get(fold(name, ignoreCase)) ?? null };
}

/** Whether the server does not tell names by case. */
export async function ignoresCase(session: Session): Promise<boolean> {
  const [setting] = await session.rows("SELECT @@GLOBAL.lower_case_table_names AS folding" as ByteSql);
  return setting?.["folding"] !== "0";
}

async function readSchema(session: Session, wanted: string, ignoreCase: boolean): Promise<SourceSchema | null> {
  const same = (name: string | null | undefined) => typeof name === "string" && fold(name, ignoreCase) === wanted;
  const schemas = await session.rows(sql`SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA WHERE SCHEMA_NAME=${textLiteral(wanted)}`);
  // information_schema may compare by a collation that takes more names for equal than the server does.
  const name = schemas.find((row) => same(row["name"]))?.["name"];
  if (typeof name !== "string") return null;
  const tables = await session.rows(
    sql`SELECT TABLE_SCHEMA AS parent, TABLE_NAME AS name, TABLE_TYPE AS kind FROM information_schema.TABLES WHERE TABLE_SCHEMA=${textLiteral(name)}`,
  );
  return { name, tables: new Map(tables.filter((row) => same(row["parent"])).map((row) => [row["name"] ?? "", row["kind"] ?? ""])) };
}

function fold(name: string, ignoreCase: boolean): string {
  return ignoreCase ? name.toLowerCase() : name;
}
