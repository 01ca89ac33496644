/**
 * What keeps a target table from being created although its definition is right: another table of the same migration that is still as the
 * source had it earlier. The source's own tables fit each other, so the other one was altered there too, and its turn comes.
 *
 * One that is as the source has it is not in the way: two tables of a migration may want one name, of two schemas or of a server that has names per table.
 *
 * - Names of CHECK and FOREIGN KEY constraints belong to the schema: the source may have given one to another table since.
 * - Both ends of a foreign key must fit: types of columns, a unique key that is referenced.
 */
import { parseShowCreate, quotedName, referencedTables } from "../../shared/columns/show-create.js";
import { foldedName, type TableName } from "../../shared/columns/table-definition.js";
import { DroverError } from "../../shared/errors.js";
import { sql, textLiteral, type ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { presentTable } from "./present-table.js";
import { sameDefinition } from "./source-table.js";

/** Duplicate name of a CHECK, of a foreign key (MySQL; MariaDB says 1005 with the engine's 121, or 1022). */
const NAME_TAKEN = [3822, 1826, 1005, 1022];
/** Columns that do not fit, no such column, no (unique) key that is referenced, partitions at either end; MariaDB says 1005 with the engine's 150. */
const ENDS_DIFFER = [3780, 3734, 6125, 1822, 1215, 1506, 1005];

/**
 * Of the migration's other tables, one whose target stands in the way of creating this table; null when the error is of another kind. `gone`: what stood
 * in the way has been dropped meanwhile, by whoever creates it anew.
 * @param error of the CREATE, whose session it has ended
 * @param source the source connection's name
 * @param others as they were before the CREATE
 */
export async function tableInTheWay(context: EngineContext, ref: MigrationRef, source: string, error: unknown, table: MigrationTable, others: readonly MigrationTable[], signal: AbortSignal): Promise<MigrationTable | "gone" | null> {
  if (!(error instanceof DroverError)) return null;
  // One that only joins has a target that is not ours yet.
  const ours = others.filter((other) => other.number !== table.number && (other.phase !== "pending" || other.generation > 0));
  const errno = error.errno ?? 0;
  const onTarget = <T>(look: (session: Session) => Promise<T>) => context.connections.use(ref.target, "target", signal, look);
  // The definition that was refused is not the source's any more: it fitted what was there then.
  if ((NAME_TAKEN.includes(errno) || ENDS_DIFFER.includes(errno)) && (await isBehind(context, source, table, signal))) return "gone";
  const ends = ENDS_DIFFER.includes(errno) ? await onTarget((session) => otherEnds(session, table, ours)) : null;
  for (const end of ends ?? []) if (await isBehind(context, source, end, signal)) return end;
  const owner = NAME_TAKEN.includes(errno) ? await onTarget((session) => constraintOwner(session, table, ours)) : null;
  if (owner === "gone" || (owner !== null && (await isBehind(context, source, owner, signal)))) return owner;
  return ends?.length === 0 ? "gone" : null;
}

/** Whether the source's table is another one than was recorded, or gone. */
export async function isBehind(context: EngineContext, source: string, table: MigrationTable, signal: AbortSignal): Promise<boolean> {
  const now = await presentTable(context, source, table.source, signal);
  return now === null || !sameDefinition(now.definition, table.definition);
}

async function constraintOwner(session: Session, { definition, target }: MigrationTable, tables: readonly MigrationTable[]): Promise<MigrationTable | "gone" | null> {
  const names = parseShowCreate(definition.createStatement).items.filter((item) => item.startsWith("CONSTRAINT `")).map((item) => textLiteral(quotedName(item) ?? ""));
  if (names.length === 0) return null;
  const rows = await session.rows(sql`SELECT DISTINCT TABLE_SCHEMA AS ts, TABLE_NAME AS tn FROM information_schema.TABLE_CONSTRAINTS
    WHERE CONSTRAINT_SCHEMA=${textLiteral(target.schema)} AND CONSTRAINT_TYPE IN ('CHECK', 'FOREIGN KEY') AND CONSTRAINT_NAME IN (${names.join(",") as ByteSql})`);
  return rows.length === 0 ? "gone" : (named(tables, rows.map((row) => ({ schema: row["ts"] ?? "", table: row["tn"] ?? "" })))[0] ?? null);
}

/** Tables whose foreign keys lead to this one, or this one's to them. */
async function otherEnds(session: Session, { definition, target }: MigrationTable, tables: readonly MigrationTable[]): Promise<MigrationTable[]> {
  const rows = await session.rows(sql`SELECT DISTINCT TABLE_SCHEMA AS ts, TABLE_NAME AS tn FROM information_schema.KEY_COLUMN_USAGE
    WHERE REFERENCED_TABLE_SCHEMA=${textLiteral(target.schema)} AND REFERENCED_TABLE_NAME=${textLiteral(target.table)}`);
  const children = rows.map((row) => ({ schema: row["ts"] ?? "", table: row["tn"] ?? "" }));
  const parents = referencedTables(definition.createStatement).map(({ schema, table }) => ({ schema: schema ?? target.schema, table }));
  return named(tables, [...parents, ...children]);
}

function named(tables: readonly MigrationTable[], names: readonly TableName[]): MigrationTable[] {
  const keys = new Set(names.map(foldedName));
  return tables.filter((table) => keys.has(foldedName(table.target)));
}
