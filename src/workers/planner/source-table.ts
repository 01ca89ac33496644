/** Reads a table's definition together with its start position (design §4, step 1). */
import { readCreateStatement, readTableDefinition } from "../../shared/columns/read-table.js";
import { shapeOf } from "../../shared/columns/show-create.js";
import type { TableDefinition, TableName } from "../../shared/columns/table-definition.js";
import { DroverError } from "../../shared/errors.js";
import { executedPosition } from "../../shared/mysql/position.js";
import type { Session } from "../../shared/mysql/session.js";

export interface SourceTable {
  definition: TableDefinition;
  /** The definition is the table's as of this position. */
  startPosition: string;
}

const TRIES = 10;

/**
 * SHOW CREATE is read before and after the position, and before and after the rest of the definition: when both readings agree, no
 * DDL of this table came between, and the position is one at which the table had this shape.
 * @throws DroverError STATEMENT_REFUSED when there is no such table, SERVER_BUSY when its shape does not stand still
 */
export async function readSourceTable(session: Session, name: TableName): Promise<SourceTable> {
  let before = await readCreateStatement(session, name.schema, name.table);
  for (let i = 0; i < TRIES; i++) {
    const startPosition = await executedPosition(session);
    const definition = await requireDefinition(session, name);
    if (before !== null && shapeOf(before) === shapeOf(definition.createStatement)) return { definition, startPosition };
    before = definition.createStatement;
  }
  throw new DroverError("SERVER_BUSY", `${name.schema}.${name.table} is being altered again and again`);
}

/** Whether two readings show the same shape; statistics and the AUTO_INCREMENT counter do not count. */
export function sameDefinition(a: TableDefinition, b: TableDefinition): boolean {
  return shapeOf(a.createStatement) === shapeOf(b.createStatement);
}

async function requireDefinition(session: Session, name: TableName): Promise<TableDefinition> {
  const definition = await readTableDefinition(session, name.schema, name.table);
  if (definition === null) throw new DroverError("STATEMENT_REFUSED", `${session.server}: there is no table ${name.schema}.${name.table}`, { errno: 1146 });
  return definition;
}
