/** ENUM and SET columns whose members a server cannot tell. */
import { DroverError } from "../errors.js";
import type { ColumnDefinition, TableDefinition } from "./table-definition.js";

/** Character sets that have characters which utf8mb3 has not. */
const WIDER = /^(?:utf8mb4|utf16|utf16le|utf32|gb18030)$/;

/**
 * SHOW CREATE TABLE and information_schema show members in utf8mb3, and `?` for what that does not have (MySQL 9.7 and MariaDB 10.11:
 * `ENUM('😀')` is shown as `enum('?')`; MariaDB shows bytes of the binary set that are no ASCII so, too). A table made by that text would hold other values. A true `?`
 * looks the same.
 */
function hasLostMembers(column: ColumnDefinition, family: TableDefinition["family"]): boolean {
  if (!/^(?:enum|set)$/.test(column.dataType) || !column.columnType.includes("?")) return false;
  return WIDER.test(column.charset ?? "") || (family === "mariadb" && (column.charset ?? "binary") === "binary");
}

/** Why the table cannot be created by its definition; null when it can. */
export function lostMembers(definition: TableDefinition): DroverError | null {
  const lost = definition.columns.filter((column) => hasLostMembers(column, definition.family)).map((column) => column.name);
  if (lost.length === 0) return null;
  const what = lost.length === 1 ? `the column ${lost[0]} has a member` : `the columns ${lost.join(", ")} have members`;
  return new DroverError("UNDECODABLE", `${definition.schema}.${definition.table}: ${what} with a "?", by which the server also shows characters outside of utf8mb3: what it is cannot be told`, {
    cure: 'create the target table by hand with the right members and set options.existingTarget to "resume", or leave the table out',
  });
}
