/** Row statements on the target, with the server's answer checked: a row that was not stored exactly must not pass (promise 5). */
import type { LoadFile } from "../../shared/columns/load-writer.js";
import type { ReplaceStatement } from "../../shared/columns/replace-writer.js";
import type { TableDefinition, TableName } from "../../shared/columns/table-definition.js";
import { MAX_WARNINGS, expressionsMayWarn, isAboutExpression } from "../../shared/columns/write-warnings.js";
import { DroverError } from "../../shared/errors.js";
import type { ByteSql } from "../../shared/mysql/bytes.js";
import type { Session, WriteResult } from "../../shared/mysql/session.js";

/** Room in a packet for the header and the last row's separator. */
const PACKET_MARGIN = 4096;

/** Longest statement to build for this session, in bytes. */
export function statementBytes(session: Session): number {
  // Larger statements are not faster, and a 64 MiB packet limit would make them a memory problem.
  return Math.min(session.maxAllowedPacket - PACKET_MARGIN, 4 * 1024 * 1024);
}

/** The table that rows are written into, and what is known of its warnings. */
export interface WrittenTable {
  definition: TableDefinition;
  target: TableName;
}

/** @throws DroverError ROW_REFUSED when the server warned or took another number of rows */
export async function loadFile(session: Session, file: LoadFile, table: WrittenTable): Promise<void> {
  const result = await session.load(file.statement, file.chunks).catch((error: unknown) => {
    throw refused(error, table);
  });
  const records = /Records: (\d+)/.exec(result.info)?.[1];
  if (records !== undefined && Number(records) !== file.rows)
    throw new DroverError("ROW_REFUSED", `${session.server}: LOAD DATA into ${table.target.schema}.${table.target.table} took ${records} rows of ${file.rows}`);
  await requireExactness(session, result, file.expectedWarnings, table);
}

/**
 * @returns the rows that were written and those that gave way to them
 * @throws DroverError ROW_REFUSED when the server warned
 */
export async function replaceRows(session: Session, statement: ReplaceStatement, table: WrittenTable): Promise<number> {
  const result = await session.run(statement.statement).catch((error: unknown) => {
    throw refused(error, table);
  });
  await requireExactness(session, result, statement.expectedWarnings, table);
  return result.affectedRows;
}

const CHECK_CURE =
  "the row does not fulfil this CHECK of the target's: change the row on the source, or drop the constraint on the target, then resume; MariaDB's JSON has such a constraint, and takes documents of at most 31 levels";
/** A CHECK of MySQL, of MariaDB. */
const CURES: Record<number, string> = { 3819: CHECK_CURE, 4025: CHECK_CURE };

/** What the server, or its packet limit, refused, with the table and the columns that its rows are found by; values stay out of it (promise 6). */
function refused(error: unknown, { definition, target }: WrittenTable): unknown {
  if (!(error instanceof DroverError) || (error.code !== "STATEMENT_REFUSED" && error.code !== "ROW_REFUSED")) return error;
  const key = definition.key === null ? "" : ` (key ${definition.key.columns.join(", ")})`;
  return new DroverError("ROW_REFUSED", `a row of ${target.schema}.${target.table}${key} was refused: ${error.message}`, {
    errno: error.errno, sqlState: error.sqlState, cause: error,
    cure: error.cure ?? CURES[error.errno ?? 0] ?? "the target cannot hold the source's value: compare both definitions and both servers' limits",
  });
}

async function requireExactness(session: Session, result: WriteResult, expected: number, table: WrittenTable): Promise<void> {
  if (result.warnings === Math.min(expected, MAX_WARNINGS)) return;
  const given = (await session.rows("SHOW WARNINGS" as ByteSql)).map((row) => ({ code: Number(row["Code"]), message: row["Message"] ?? "" }));
  const ofCells = expressionsMayWarn(table.definition) ? given.filter((warning) => !isAboutExpression(table.definition, warning)) : given;
  // The server lists `max_error_count` of them at most (1024 by default): only a whole list tells.
  if (expressionsMayWarn(table.definition) && given.length === result.warnings && ofCells.length === expected) return;
  const first = ofCells[0];
  // The warning's text quotes the value; its number and the column are enough to find it.
  const column = /column '([^']*)' at row \d+$/.exec(first?.message ?? "")?.[1];
  const { schema, table: name } = table.target;
  throw new DroverError("ROW_REFUSED", `${session.server}: a row of ${schema}.${name} was not stored exactly: ${result.warnings} warnings where ${expected} were due, the first is ${first?.code}${column === undefined ? "" : ` for column ${column}`}`, {
    errno: first?.code,
    cure: "the target's column cannot hold the source's value: compare both definitions",
  });
}
