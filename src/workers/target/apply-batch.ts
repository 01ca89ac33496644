/**
 * Writes a batch's net effect for one table (design §4, step 4): first the keys that have no image left, then the last
 * images. Deletes come first because rows are the same row when their keys are equal in the column's collation, while
 * the batch tells keys apart by their bytes.
 */
import type { BatchTable } from "../../shared/backlog/batch.js";
import { BINARY_NAMES, FILTER_NAMES } from "../../shared/keys/chunk-select.js";
import { deleteStatements } from "../../shared/keys/delete-statements.js";
import { keyOf } from "../../shared/keys/key-of.js";
import type { Session } from "../../shared/mysql/session.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import { statementBytes } from "./checked-write.js";
import { RowBuffer } from "./row-buffer.js";

/** From this many rows on, LOAD DATA is cheaper than the text of a REPLACE. */
const LOAD_ROWS = 100;

export async function applyToTable(session: Session, table: MigrationTable, rows: BatchTable): Promise<void> {
  const { definition, target } = table;
  const maxBytes = statementBytes(session);
  for (const statement of deleteStatements(definition, target, rows.deletes, { maxBytes })) await session.run(statement);
  const buffer = new RowBuffer(definition, target, { localInfile: session.localInfile && rows.puts.length >= LOAD_ROWS, statementBytes: maxBytes, isMariaDb: session.isMariaDb });
  for (const row of rows.puts) buffer.add(row);
  await buffer.write(session);
  if (table.where !== null) await removeFiltered(session, table, table.where, rows.puts);
}

/** A filter is evaluated by MySQL only: the rows were written, and those that it does not keep go again, in the same transaction. */
async function removeFiltered(session: Session, table: MigrationTable, where: string, puts: readonly Buffer[]): Promise<void> {
  if (puts.length === 0) return;
  const { definition, target } = table;
  const keyOfRow = keyOf(definition);
  await session.run(FILTER_NAMES);
  for (const statement of deleteStatements(definition, target, puts.map((row) => keyOfRow(row)), { maxBytes: statementBytes(session), unless: where })) await session.run(statement);
  await session.run(BINARY_NAMES);
}
