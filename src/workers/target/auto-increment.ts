/**
 * AUTO_INCREMENT counters. Rows raise the target's by themselves; ids that the source has given and whose rows are gone again
 * (rolled back, or deleted at the table's end) are known to the source's counter only, and the target would give them a second time.
 */
import { shownCounter } from "../../shared/columns/show-create.js";
import type { TableName } from "../../shared/columns/table-definition.js";
import { qualified, sql, type ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import type { MigrationTable } from "../../shared/state/tables.js";

/** An ALTER of the counter alone changes the dictionary, no rows; milliseconds. */
const PATIENCE = 60_000;
/** A server may be set to show names without quotes. */
const QUOTED = "SET SESSION sql_quote_show_create=1" as ByteSql;

/** What a target table's counter should be at least. */
export interface Counter {
  target: TableName;
  next: bigint;
}

/** The source's counters of now, of those tables that have given an id. @throws DroverError STATEMENT_REFUSED when one of the tables is gone */
export async function readCounters(source: Session, tables: readonly Pick<MigrationTable, "source" | "target">[]): Promise<Counter[]> {
  await source.run(QUOTED);
  const counters: Counter[] = [];
  for (const table of tables) {
    const next = await readCounter(source, table.source);
    if (next > 1n) counters.push({ target: table.target, next });
  }
  return counters;
}

/** Those that the target is behind of. */
export async function countersBehind(target: Session, counters: readonly Counter[]): Promise<Counter[]> {
  await target.run(QUOTED);
  const behind: Counter[] = [];
  for (const counter of counters) if ((await readCounter(target, counter.target)) < counter.next) behind.push(counter);
  return behind;
}

/** Raises the target's counters where they are behind. None is lowered, so doing it twice, or late, harms nothing. */
export async function raiseCounters(target: Session, counters: readonly Counter[]): Promise<void> {
  for (const { target: { schema, table }, next } of await countersBehind(target, counters))
    await target.run(sql`ALTER TABLE ${qualified(schema, table)} AUTO_INCREMENT=${next}`, { patience: PATIENCE });
}

/** The next value; 1 where SHOW CREATE TABLE shows none, and for a view that took the table's place. Not from information_schema, which remembers it for a day. */
async function readCounter(session: Session, { schema, table }: TableName): Promise<bigint> {
  const [row] = await session.rows(sql`SHOW CREATE TABLE ${qualified(schema, table)}`);
  const statement = row?.["Create Table"];
  return (typeof statement === "string" ? shownCounter(statement) : null) ?? 1n;
}
