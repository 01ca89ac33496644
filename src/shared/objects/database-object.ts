/** Views, triggers, routines and events: what a schema holds beside its tables, as a server shows it. */

export type ObjectKind = "procedure" | "function" | "view" | "trigger" | "event";

/** An account as definers name it; the host is null for a role (MariaDB). */
export interface Account {
  user: string;
  host: string | null;
}

export interface ObjectName {
  kind: ObjectKind;
  schema: string;
  name: string;
}

export interface DatabaseObject extends ObjectName {
  /** SHOW CREATE's statement in the character set of whoever created it: one byte per character. It names neither its own schema nor that of its tables there. */
  text: string;
  /** Of a trigger: its table. */
  table: string | null;
  /** Creation settings; `sqlMode` is empty for views, the collation of the schema null. */
  sqlMode: string;
  characterSet: string;
  collation: string;
  databaseCollation: string | null;
  /** Of an event. */
  timeZone: string | null;
}

/** `view shop.sums`, for messages. */
export function objectLabel({ kind, schema, name }: ObjectName): string {
  return `${kind} ${schema}.${name}`;
}
