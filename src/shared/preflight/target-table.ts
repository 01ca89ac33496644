/** What stands on the target in a selected table's place. */
import { readTableDefinition } from "../columns/read-table.js";
import type { TableDefinition, TableName } from "../columns/table-definition.js";
import type { MigrationSpec } from "../contracts/spec.js";
import { DroverError } from "../errors.js";
import { qualified, sql, textLiteral } from "../mysql/bytes.js";
import type { Session } from "../mysql/session.js";
import type { SelectedTable } from "../selection/selected-table.js";
import type { ServerFacts } from "./server-facts.js";

export interface TargetTable {
  /** `missing`, or TABLE_TYPE: `BASE TABLE`, `VIEW`, … */
  kind: string;
  /** Null when the user may not look. */
  empty: boolean | null;
  /** Read where the table stays and has to fit the source's. */
  definition: TableDefinition | null;
  /** Why there is no definition although it was wanted: a column type that we do not know. */
  unreadable: string | null;
  /** Names of the triggers that the user may see. */
  triggers: string[];
}

type Use = <T>(work: (session: Session) => Promise<T>) => Promise<T>;

const MISSING: TargetTable = { kind: "missing", empty: null, definition: null, unreadable: null, triggers: [] };

/** In the order of `tables`. */
export async function readTargetTables(use: Use, target: ServerFacts, tables: readonly SelectedTable[], spec: MigrationSpec): Promise<TargetTable[]> {
  const fold = (name: string) => (target.ignoreCase ? name.toLowerCase() : name);
  const schemas = new Map<string, { kinds: Map<string, string>; triggers: Map<string, string[]> }>();
  for (const schema of new Set(tables.map((table) => fold(table.target.schema)))) schemas.set(schema, await use((session) => readNames(session, schema, fold)));
  const stays = spec.mode === "follow" || spec.options.existingTarget !== "replace";
  const found: TargetTable[] = [];
  for (const { target: name } of tables) {
    const schema = schemas.get(fold(name.schema));
    const kind = schema?.kinds.get(fold(name.table));
    if (kind === undefined) {
      found.push(MISSING);
      continue;
    }
    const readable = kind === "BASE TABLE" && target.privileges.has("SELECT", name);
    found.push({
      kind,
      empty: readable ? await use((session) => isEmpty(session, name.schema, name.table)) : null,
      ...(readable && stays ? await readDefinition(use, name) : { definition: null, unreadable: null }),
      triggers: schema?.triggers.get(fold(name.table)) ?? [],
    });
  }
  return found;
}

async function readNames(session: Session, schema: string, fold: (name: string) => string) {
  const rows = await session.rows(sql`SELECT TABLE_SCHEMA AS parent, TABLE_NAME AS name, TABLE_TYPE AS kind FROM information_schema.TABLES WHERE TABLE_SCHEMA=${textLiteral(schema)}`);
  const fired = await session.rows(sql`SELECT EVENT_OBJECT_SCHEMA AS parent, EVENT_OBJECT_TABLE AS name, TRIGGER_NAME AS trigger_name FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA=${textLiteral(schema)}`);
  const triggers = new Map<string, string[]>();
  for (const row of fired) {
    if (fold(row["parent"] ?? "") !== schema) continue;
    const name = fold(row["name"] ?? "");
    triggers.set(name, [...(triggers.get(name) ?? []), row["trigger_name"] ?? ""]);
  }
  return { kinds: new Map(rows.filter((row) => fold(row["parent"] ?? "") === schema).map((row) => [fold(row["name"] ?? ""), row["kind"] ?? ""])), triggers };
}

async function readDefinition(use: Use, name: TableName): Promise<Pick<TargetTable, "definition" | "unreadable">> {
  try {
    return { definition: await use((session) => readTableDefinition(session, name.schema, name.table)), unreadable: null };
  } catch (error) {
    if (error instanceof DroverError && error.code === "UNDECODABLE") return { definition: null, unreadable: error.message };
    throw error;
  }
}

async function isEmpty(session: Session, schema: string, table: string): Promise<boolean> {
  return (await session.rows(sql`SELECT 1 AS found FROM ${qualified(schema, table)} LIMIT 1`)).length === 0;
}
