/**
 * Carries AUTO_INCREMENT counters. Rows raise the target's counter by themselves, but ids that the source has given and whose rows
 * are gone again (rolled back, or inserted and deleted within one batch) do not: the target would give them a second time.
 */
import { parseShowCreate } from "../../shared/columns/show-create.js";
import { readTableDefinition } from "../../shared/columns/read-table.js";
import type { TableName } from "../../shared/columns/table-definition.js";
import { qualified, sql, type ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { EngineContext, MigrationRef } from "../context.js";

/**
 * Raises the counters of the target's tables to the source's of now; none is ever lowered, so doing it twice, or late, harms
 * nothing. At a cut-over call it when the source's writers have stopped and the follow has caught up.
 * @param source the connection's name
 */
export async function carryAutoIncrement(context: EngineContext, ref: MigrationRef, source: string, tables: readonly MigrationTable[], signal: AbortSignal): Promise<void> {
  const { connections } = context;
  for (const { definition, source: from, target } of tables) {
    if (!definition.columns.some((column) => column.autoIncrement)) continue;
    const wanted = await connections.use(source, "source", signal, (session) => counterOf(session, from));
    if (wanted === null) continue;
    await connections.use(ref.target, "target", signal, async (session) => {
      const there = await counterOf(session, target);
      if (there === null || there < wanted) await session.run(sql`ALTER TABLE ${qualified(target.schema, target.table)} AUTO_INCREMENT=${String(wanted) as ByteSql}`);
    });
  }
}

/** The next value, as SHOW CREATE TABLE tells it: `information_schema` may show one of yesterday. Null for a table that is gone, or has given none. */
async function counterOf(session: Session, { schema, table }: TableName): Promise<bigint | null> {
  const definition = await readTableDefinition(session, schema, table);
  const found = definition === null ? null : / AUTO_INCREMENT=(\d+)/.exec(parseShowCreate(definition.createStatement).tail);
  return found === null ? null : BigInt(found[1] as string);
}
