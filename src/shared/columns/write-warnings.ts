/**
 * Which warnings of a write say that a row was not stored as it was sent.
 *
 * LOAD DATA LOCAL and a session that is not strict turn errors into warnings, so a writer requires exactly those that are known
 * beforehand: one for each ENUM index 0. A table with expressions of its own may warn besides: `a` = 'abc' is stored as it is, and
 * its generated column `CAST(a AS SIGNED)` warns of an incorrect integer (measured on 9.7: several times a row).
 */
import type { TableDefinition } from "./table-definition.js";

/** The protocol counts warnings in two bytes: at this number there may be more. */
export const MAX_WARNINGS = 65_535;

/** Whether warnings may come from expressions, so that their count alone says nothing: look at each (`SET SESSION max_error_count=65535` before the write). */
export function expressionsMayWarn(definition: Pick<TableDefinition, "columns" | "indexes">): boolean {
  return definition.columns.some((column) => column.generated !== null) || definition.indexes.some((index) => index.parts.some((part) => part.column === null));
}

/** Invalid character string: what `CONVERT(… USING utf8mb4)` says of a cell. Names no column. */
const INVALID_STRING = 1300;

/**
 * Whether a warning (a record of SHOW WARNINGS) speaks of an expression and not of a cell. Those for ENUM index 0 speak of a
 * cell: of all the others there must be exactly `expectedWarnings`.
 */
export function isAboutExpression(definition: Pick<TableDefinition, "columns">, warning: { code: number; message: string }): boolean {
  if (warning.code === INVALID_STRING) return false;
  const name = /\bcolumn '(.*)' at row \d+$/s.exec(warning.message)?.[1];
  // "Truncated incorrect INTEGER value", "Division by 0", "Data truncated for functional index": no cell is put into a column there.
  if (name === undefined) return !/\bcolumn\b/i.test(warning.message);
  const column = definition.columns.find((c) => c.name.toLowerCase() === name.toLowerCase());
  return column !== undefined && column.generated !== null;
}
