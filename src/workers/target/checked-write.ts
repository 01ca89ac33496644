/** Row statements on the target, with the server's answer checked: a row that was not stored exactly must not pass (promise 5). */
import type { LoadFile } from "../../shared/columns/load-writer.js";
import type { ReplaceStatement } from "../../shared/columns/replace-writer.js";
import type { TableName } from "../../shared/columns/table-definition.js";
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

/** @throws DroverError ROW_REFUSED when the server warned or took another number of rows */
export async function loadFile(session: Session, file: LoadFile, table: TableName): Promise<void> {
  const result = await session.load(file.statement, file.chunks);
  const records = /Records: (\d+)/.exec(result.info)?.[1];
  if (records !== undefined && Number(records) !== file.rows)
    throw new DroverError("ROW_REFUSED", `${session.server}: LOAD DATA into ${table.schema}.${table.table} took ${records} rows of ${file.rows}`);
  await requireNoWarnings(session, result, file.expectedWarnings, table);
}

/** @throws DroverError ROW_REFUSED when the server warned */
export async function replaceRows(session: Session, statement: ReplaceStatement, table: TableName): Promise<void> {
  const result = await session.run(statement.statement);
  await requireNoWarnings(session, result, statement.expectedWarnings, table);
}

async function requireNoWarnings(session: Session, result: WriteResult, expected: number, table: TableName): Promise<void> {
  if (result.warnings === expected) return;
  const warnings = await session.rows("SHOW WARNINGS LIMIT 1" as ByteSql);
  const code = Number(warnings[0]?.["Code"] ?? 0);
  // The warning's text quotes the value; its number and the column are enough to find it.
  const column = /column '([^']*)'/.exec(warnings[0]?.["Message"] ?? "")?.[1];
  throw new DroverError("ROW_REFUSED", `${session.server}: a row of ${table.schema}.${table.table} was not stored exactly: ${result.warnings} warnings where ${expected} were due, the first is ${code}${column === undefined ? "" : ` for column ${column}`}`, {
    errno: code,
    cure: "the target's column cannot hold the source's value: compare both definitions",
  });
}
