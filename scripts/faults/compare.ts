/** The independent full comparison: every column of every row as HEX, both sides in key order. Nothing of Drover's is used. */
import mysql, { type Connection, type RowDataPacket } from "mysql2/promise";

/** @returns what differs, in words; empty when both sides are equal */
export async function compareSchemas(sourceUrl: string, targetUrl: string, schema: string): Promise<string[]> {
  const [source, target] = await Promise.all([mysql.createConnection(sourceUrl), mysql.createConnection(targetUrl)]);
  try {
    // Both are to show the same value as the same text, whatever their defaults are.
    for (const db of [source, target]) await db.query("SET SESSION time_zone='+00:00', sql_mode=''");
    const differences: string[] = [];
    const names = await tableNames(source, schema);
    const others = await tableNames(target, schema);
    if (names.join() !== others.join()) return [`tables: ${names.join()} and ${others.join()}`];
    for (const table of names) differences.push(...(await compareTable(source, target, schema, table)));
    return differences;
  } finally {
    source.destroy();
    target.destroy();
  }
}

/** Base tables, by name. */
export async function tableNames(db: Connection, schema: string): Promise<string[]> {
  const [rows] = await db.query<RowDataPacket[]>("SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA=? AND TABLE_TYPE='BASE TABLE' ORDER BY 1", [schema]);
  return rows.map((row) => String(row["name"]));
}

/** @returns what differs in the rows of a table that both sides have */
export async function compareTable(source: Connection, target: Connection, schema: string, table: string, targetSchema = schema): Promise<string[]> {
  const [sourceColumns, targetColumns] = await Promise.all([columns(source, schema, table), columns(target, targetSchema, table)]);
  const names = (list: readonly Column[]) => list.map((column) => column.name).join();
  if (names(sourceColumns) !== names(targetColumns)) return [`${table}: columns ${names(sourceColumns)} and ${names(targetColumns)}`];
  // The text of a FLOAT is rounded, that of the DOUBLE of the same value is not.
  const list = sourceColumns.map(({ name, float }) => `IFNULL(HEX(CAST(${mysql.escapeId(name, true)}${float ? "+0e0" : ""} AS BINARY)), '-')`).join(", ");
  const statement = (from: string) => `SELECT CONCAT_WS(',', ${list}) AS line FROM ${mysql.escapeId(from, true)}.${mysql.escapeId(table, true)}`;
  const [a, b] = await Promise.all([lines(source, statement(schema)), lines(target, statement(targetSchema))]);
  const missing = a.filter((line, i) => line !== b[i]).length;
  return a.length === b.length && missing === 0 ? [] : [`${table}: ${a.length} and ${b.length} rows, ${missing} lines differ; only on the source ${only(a, b)}, only on the target ${only(b, a)}`];
}

interface Column {
  name: string;
  float: boolean;
}

async function columns(db: Connection, schema: string, table: string): Promise<Column[]> {
  const [rows] = await db.query<RowDataPacket[]>("SELECT COLUMN_NAME AS name, DATA_TYPE='float' AS is_float FROM information_schema.COLUMNS WHERE TABLE_SCHEMA=? AND TABLE_NAME=? ORDER BY ORDINAL_POSITION", [schema, table]);
  return rows.map((row) => ({ name: String(row["name"]), float: Number(row["is_float"]) === 1 }));
}

/** Sorted here, as text, so that neither server's idea of order matters. */
async function lines(db: Connection, statement: string): Promise<string[]> {
  const [rows] = await db.query<RowDataPacket[]>(statement);
  return rows.map((row) => String(row["line"])).sort();
}

function only(a: readonly string[], b: readonly string[]): number {
  const other = new Set(b);
  return a.filter((line) => !other.has(line)).length;
}
