/** Whether the rows of a TABLE_MAP event have the columns that are being followed: what a DDL left otherwise must not pass (promise 5). */
import { copiedColumns, type ColumnDefinition, type TableDefinition } from "../../shared/columns/table-definition.js";
import type { ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import type { BinlogColumn, BinlogTable } from "../binlog/events.js";

/** How the source names things. */
export interface SourceNaming {
  /** It does not tell tables by case (`lower_case_table_names` 1 and 2): then its statements have names as they were typed. */
  ignoreCase: boolean;
  /** Collations by their ids in the binlog. */
  collations: ReadonlyMap<number, string>;
}

export async function readSourceNaming(session: Session): Promise<SourceNaming> {
  const collations = await session.rows("SELECT ID AS id, COLLATION_NAME AS name FROM information_schema.COLLATIONS WHERE ID IS NOT NULL" as ByteSql);
  return { ignoreCase: await readIgnoreCase(session), collations: new Map(collations.map((row) => [Number(row["id"]), row["name"] ?? ""])) };
}

export async function readIgnoreCase(session: Session): Promise<boolean> {
  const [row] = await session.rows("SELECT @@GLOBAL.lower_case_table_names AS folding" as ByteSql);
  return row?.["folding"] !== "0";
}

/** The first difference as text, or null when there is none. */
export function shapeDifference(definition: TableDefinition, binlog: BinlogTable, naming: SourceNaming): string | null {
  const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
  const added = binlog.columns.find((column) => !isHidden(column, definition) && !definition.columns.some((known) => same(known.name, column.name)));
  if (added !== undefined) return added.name;
  for (const column of copiedColumns(definition)) {
    const there = binlog.columns.find((other) => same(other.name, column.name));
    if (there === undefined) return column.name;
    const difference = columnDifference(column, there, naming);
    if (difference !== null) return `${column.name}: ${difference}`;
  }
  return null;
}

/** MariaDB's binlog also has the column by which it keeps a unique key on a BLOB or a long text. */
function isHidden(column: BinlogColumn, definition: TableDefinition): boolean {
  return definition.family === "mariadb" && /^DB_ROW_HASH_\d+$/.test(column.name);
}

/** A default that the target does not share shows here: the collation of a character set, TIMESTAMP without NULL. */
function columnDifference(column: ColumnDefinition, binlog: BinlogColumn, naming: SourceNaming): string | null {
  if (binlog.nullable !== column.nullable) return binlog.nullable ? "may be NULL" : "is NOT NULL";
  if (/^(?:tiny|small|medium|big)?int$|^decimal$|^float$|^double$/.test(column.dataType) && binlog.unsigned !== column.unsigned) return binlog.unsigned ? "is unsigned" : "is signed";
  const collation = binlog.collation === null ? undefined : naming.collations.get(binlog.collation);
  const known = column.collation ?? (/blob$|binary$/.test(column.dataType) ? "binary" : null);
  if (collation !== undefined && known !== null && plain(collation) !== plain(known)) return `has the collation ${collation}`;
  return null;
}

/** `utf8_bin` and `utf8mb3_bin` are one collation. */
function plain(collation: string): string {
  return collation.replace(/^utf8(?=_)/, "utf8mb3");
}
