/** Names of CHECK and FOREIGN KEY constraints belong to the schema: a table of the target may hold one that the source has given to another table since. */
import { parseShowCreate, quotedName } from "../../shared/columns/show-create.js";
import type { TableDefinition, TableName } from "../../shared/columns/table-definition.js";
import { DroverError } from "../../shared/errors.js";
import { sql, textLiteral, type ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import type { MigrationTable } from "../../shared/state/tables.js";

/** Duplicate name of a CHECK, of a foreign key (MySQL; MariaDB says 1005 with the engine's 121, or 1022). */
const NAME_TAKEN = [3822, 1826, 1005, 1022];

/** Of the migration's tables, one whose target stands in the way of creating this table; null when the error is of another kind. */
export async function constraintOwner(session: Session, error: unknown, definition: TableDefinition, target: TableName, tables: readonly MigrationTable[]): Promise<MigrationTable | null> {
  if (!(error instanceof DroverError) || !NAME_TAKEN.includes(error.errno ?? 0)) return null;
  const names = parseShowCreate(definition.createStatement).items.filter((item) => item.startsWith("CONSTRAINT `")).map((item) => textLiteral(quotedName(item) ?? ""));
  if (names.length === 0) return null;
  const rows = await session.rows(sql`SELECT DISTINCT TABLE_SCHEMA AS ts, TABLE_NAME AS tn FROM information_schema.TABLE_CONSTRAINTS
    WHERE CONSTRAINT_SCHEMA=${textLiteral(target.schema)} AND CONSTRAINT_TYPE IN ('CHECK', 'FOREIGN KEY') AND CONSTRAINT_NAME IN (${names.join(",") as ByteSql})`);
  const holders = rows.map((row) => tables.find((table) => table.target.schema === row["ts"] && table.target.table === row["tn"]));
  // One that only joins has a target that is not ours yet.
  return holders.find((table) => table !== undefined && (table.phase !== "pending" || table.generation > 0)) ?? null;
}
