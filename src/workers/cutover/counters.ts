/** AUTO_INCREMENT counters: rows that were deleted at the end of a table, and values that were given out and never used, are known to the counter only. */
import { parseShowCreate, blankQuoted } from "../../shared/columns/show-create.js";
import type { TableName } from "../../shared/columns/table-definition.js";
import { qualified, sql, type ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { withDdlLock } from "../target/ddl-lock.js";

/** An ALTER of the counter alone changes the dictionary, no rows; milliseconds. */
const PATIENCE = 60_000;

/** Raises each target counter that is behind the source's; none is lowered. */
export async function carryCounters(context: EngineContext, ref: MigrationRef, source: string, tables: readonly MigrationTable[], isDue: (session: Session) => Promise<boolean>, signal: AbortSignal): Promise<void> {
  const { connections } = context;
  const counted = tables.filter((table) => table.definition.columns.some((column) => column.autoIncrement));
  if (counted.length === 0) return;
  const counters = await connections.use(source, "source", signal, async (session) => {
    const found = new Map<MigrationTable, bigint>();
    for (const table of counted) found.set(table, await readCounter(session, table.source));
    return found;
  });
  await withDdlLock(context, ref, signal, async (session) => {
    if (!(await isDue(session))) return;
    for (const [{ target }, counter] of counters) {
      if ((await readCounter(session, target)) >= counter) continue;
      await session.run(sql`ALTER TABLE ${qualified(target.schema, target.table)} AUTO_INCREMENT=${counter}`, { patience: PATIENCE });
    }
  });
}

/** The next value; 1 where SHOW CREATE TABLE shows none. Not from information_schema, which remembers it for a day. */
async function readCounter(session: Session, { schema, table }: TableName): Promise<bigint> {
  const [row] = await session.rows(sql`SHOW CREATE TABLE ${qualified(schema, table)}` as ByteSql);
  const { tail } = parseShowCreate(row?.["Create Table"] ?? "");
  const found = / AUTO_INCREMENT=(\d+)/.exec(blankQuoted(tail));
  return BigInt(found?.[1] ?? 1);
}
