/** Whether a failed read or write of a copy failed because the source's table is not the one any more that the copy was planned with. */
import { DroverError } from "../../shared/errors.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { EngineContext } from "../context.js";
import { presentTable } from "../planner/present-table.js";
import { sameDefinition } from "../planner/source-table.js";

/** Unknown column, table, schema or index. */
const UNKNOWN = [1054, 1146, 1049, 1051, 1176];

/** The error of a read of the source as TABLE_CHANGED, where it is that: a column is gone, or a key of another type was read and does not do as a bound. */
export async function readError(context: EngineContext, source: string, table: MigrationTable, error: unknown, signal: AbortSignal): Promise<unknown> {
  if (error instanceof DroverError && UNKNOWN.includes(error.errno ?? 0)) return changedError(table, error);
  return await refusedSinceChanged(context, source, table, error, signal);
}

/** An error as TABLE_CHANGED, when the source's table has changed. Of a write: the target's cannot hold what was read. */
export async function refusedSinceChanged(context: EngineContext, source: string, table: MigrationTable, error: unknown, signal: AbortSignal): Promise<unknown> {
  if (!(error instanceof DroverError) || (error.code !== "ROW_REFUSED" && error.code !== "STATEMENT_REFUSED")) return error;
  const now = await presentTable(context, source, table.source, signal);
  return now !== null && sameDefinition(now.definition, table.definition) ? error : changedError(table, error);
}

function changedError(table: MigrationTable, cause: DroverError): DroverError {
  return new DroverError("TABLE_CHANGED", `${table.source.schema}.${table.source.table} was changed on the source while it was being copied`, { errno: cause.errno, cause });
}
