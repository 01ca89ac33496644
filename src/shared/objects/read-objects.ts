/**
 * Reads the objects of a schema with SHOW CREATE, as bytes: the text of an object is in the character set of its creation,
 * and so it is given back when results are not converted. With the schema as the session's default a server leaves its name
 * out of a view's text, unless the view reaches into another schema.
 */
import { rowCells } from "../columns/text-row.js";
import { DroverError } from "../errors.js";
import { identifier, qualified, sql, textLiteral, type ByteSql } from "../mysql/bytes.js";
import type { Session, TextRecord } from "../mysql/session.js";
import { objectLabel, type DatabaseObject, type ObjectKind, type ObjectName } from "./database-object.js";

/** Columns of SHOW CREATE by their place; servers have never changed it. */
const PLACES = {
  view: { sqlMode: null, text: 1, characterSet: 2, collation: 3, databaseCollation: null, timeZone: null },
  trigger: { sqlMode: 1, text: 2, characterSet: 3, collation: 4, databaseCollation: 5, timeZone: null },
  procedure: { sqlMode: 1, text: 2, characterSet: 3, collation: 4, databaseCollation: 5, timeZone: null },
  function: { sqlMode: 1, text: 2, characterSet: 3, collation: 4, databaseCollation: 5, timeZone: null },
  event: { sqlMode: 1, text: 3, characterSet: 4, collation: 5, databaseCollation: 6, timeZone: 2 },
} as const satisfies Record<ObjectKind, Record<string, number | null>>;

/** What SHOW CREATE says of an object that was dropped since it was listed. */
const GONE = new Set([1146, 1305, 1347, 1360, 1539]);

export interface ListedObject extends ObjectName {
  table: string | null;
}

/** The names, in the order in which they can be created (triggers of one table in their order); only what the user may see. */
export async function listObjects(session: Session, schema: string, kinds: readonly ObjectKind[]): Promise<ListedObject[]> {
  const place = textLiteral(schema);
  const listed: ListedObject[] = [];
  // information_schema may compare by a collation that takes more names for equal than the server does.
  const take = (rows: TextRecord[], kindOf: (row: TextRecord) => ObjectKind) => {
    for (const row of rows) {
      const kind = kindOf(row);
      if (row["parent"] === schema && kinds.includes(kind)) listed.push({ kind, schema, name: row["name"] ?? "", table: row["on_table"] ?? null });
    }
  };
  if (kinds.includes("procedure") || kinds.includes("function"))
    take(await session.rows(sql`SELECT ROUTINE_SCHEMA AS parent, ROUTINE_NAME AS name, ROUTINE_TYPE AS type FROM information_schema.ROUTINES
      WHERE ROUTINE_SCHEMA=${place} AND ROUTINE_TYPE IN ('PROCEDURE','FUNCTION') ORDER BY ROUTINE_TYPE, ROUTINE_NAME`), (row) => (row["type"] === "FUNCTION" ? "function" : "procedure"));
  if (kinds.includes("view"))
    take(await session.rows(sql`SELECT TABLE_SCHEMA AS parent, TABLE_NAME AS name FROM information_schema.VIEWS WHERE TABLE_SCHEMA=${place} ORDER BY TABLE_NAME`), () => "view");
  if (kinds.includes("trigger"))
    take(await session.rows(sql`SELECT TRIGGER_SCHEMA AS parent, TRIGGER_NAME AS name, EVENT_OBJECT_TABLE AS on_table FROM information_schema.TRIGGERS
      WHERE TRIGGER_SCHEMA=${place} ORDER BY EVENT_OBJECT_TABLE, ACTION_TIMING, EVENT_MANIPULATION, ACTION_ORDER`), () => "trigger");
  if (kinds.includes("event"))
    take(await session.rows(sql`SELECT EVENT_SCHEMA AS parent, EVENT_NAME AS name FROM information_schema.EVENTS WHERE EVENT_SCHEMA=${place} ORDER BY EVENT_NAME`), () => "event");
  return listed;
}

/**
 * Reads objects of one schema. The session's default schema is another one afterwards: destroy it.
 * @throws DroverError STATEMENT_REFUSED when the user may not see a definition, SERVER_BUSY when one was dropped meanwhile
 */
export async function readObjects(session: Session, listed: readonly ListedObject[]): Promise<DatabaseObject[]> {
  const objects: DatabaseObject[] = [];
  if (listed.length === 0) return objects;
  await session.run("SET SESSION sql_quote_show_create=1" as ByteSql);
  let current: string | null = null;
  for (const name of listed) {
    if (current !== name.schema) await session.run(sql`USE ${identifier(name.schema)}`);
    current = name.schema;
    objects.push(await readObject(session, name));
  }
  return objects;
}

async function readObject(session: Session, listed: ListedObject): Promise<DatabaseObject> {
  const { kind, schema, name } = listed;
  const rows: (Buffer | null)[][] = [];
  try {
    await session.readRows(sql`SHOW CREATE ${kind.toUpperCase() as ByteSql} ${qualified(schema, name)}`, (buffer, start, end) => {
      rows.push(rowCells(buffer, start, end).map((cell) => (cell === null ? null : Buffer.from(cell))));
    });
  } catch (error) {
    if (error instanceof DroverError && GONE.has(error.errno ?? 0)) throw new DroverError("SERVER_BUSY", `${session.server}: the ${objectLabel(listed)} was dropped while it was read`, { cause: error });
    throw error;
  }
  const places = PLACES[kind];
  const cell = (place: number | null) => (place === null ? null : (rows[0]?.[place]?.toString("latin1") ?? null));
  const text = cell(places.text);
  if (text === null)
    throw new DroverError("STATEMENT_REFUSED", `${session.server}: the user may not see the definition of the ${objectLabel(listed)}`, { cure: "grant SHOW_ROUTINE ON *.* (MySQL 8.0.20), or SELECT ON *.* before it and on MariaDB" });
  return {
    ...listed, text, sqlMode: cell(places.sqlMode) ?? "", characterSet: cell(places.characterSet) ?? "utf8mb4", collation: cell(places.collation) ?? "utf8mb4_general_ci",
    databaseCollation: cell(places.databaseCollation), timeZone: cell(places.timeZone),
  };
}
