/** Events that write by themselves. */
import type { ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";

/** Enabled events of these schemas, `schema.event`; only what the user may see. */
export async function actingEvents(session: Session, schemas: ReadonlySet<string>): Promise<string[]> {
  const rows = await session.rows("SELECT EVENT_SCHEMA AS parent, EVENT_NAME AS name FROM information_schema.EVENTS WHERE STATUS='ENABLED'" as ByteSql);
  return rows.filter((row) => schemas.has(row["parent"] ?? "")).map((row) => `${row["parent"]}.${row["name"]}`);
}
