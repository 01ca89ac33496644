/** A table as the source has it now. It may be dropped or renamed between two of the queries that read it. */
import { readTableDefinition } from "../../shared/columns/read-table.js";
import type { TableName } from "../../shared/columns/table-definition.js";
import { DroverError } from "../../shared/errors.js";
import type { EngineContext } from "../context.js";
import { readSourceTable, type SourceTable } from "./source-table.js";

/** No such table, no such schema, a view whose tables are gone. */
const GONE = [1146, 1049, 1356];

/** Null when there is no base table of that name. @param source the connection's name */
export async function presentTable(context: EngineContext, source: string, { schema, table }: TableName, signal: AbortSignal): Promise<SourceTable | null> {
  try {
    return await context.connections.use(source, "source", signal, async (session) =>
      (await readTableDefinition(session, schema, table)) === null ? null : await readSourceTable(session, { schema, table }),
    );
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

/** The error of reading a table that is not there, or not any more. */
export function isGone(error: unknown): boolean {
  return error instanceof DroverError && GONE.includes(error.errno ?? 0);
}
