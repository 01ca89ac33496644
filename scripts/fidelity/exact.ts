/** A value's exact form as its own server says it: hexadecimal of its bytes, its text, or the bits of a float. Nothing of Drover's is used. */
import type { Connection, RowDataPacket } from "mysql2/promise";
import type { CorpusTable } from "./corpus.js";

/** Per row's id the exact forms of its columns. */
export type ExactRows = Map<number, (string | null)[]>;

/** The zone and the mode under which both servers are asked. */
export const ASKING = "SET SESSION time_zone='+00:00', sql_mode=''";

export async function exactRows(db: Connection, schema: string, table: CorpusTable): Promise<ExactRows> {
  const list = table.columns.map(({ name, type }) => expression(name, type)).join(", ");
  const statement = { sql: `SELECT id, ${list} FROM ${schema}.${table.name} ORDER BY id`, rowsAsArray: true };
  const isFloat = table.columns.some(({ type }) => /^(float|double)/.test(type));
  // The binary protocol sends a float's own bits, the text protocol a rounded text.
  const [rows] = isFloat ? await db.execute<RowDataPacket[][]>(statement) : await db.query<RowDataPacket[][]>({ ...statement, typeCast: (field) => field.buffer()?.toString("latin1") ?? null });
  return new Map(rows.map(([id, ...values]) => [Number(id), values.map((value: unknown) => (typeof value === "number" ? bits(value) : (value as string | null)))]));
}

function expression(name: string, type: string): string {
  if (/^(float|double)/.test(type)) return name;
  if (/^(enum|set)/.test(type)) return `CONCAT(CAST(${name} AS UNSIGNED), '/', HEX(${name}))`;
  if (/^bit/.test(type)) return `CONCAT(CAST(${name} AS UNSIGNED), '/', HEX(${name}))`;
  if (/^(json|uuid|inet)/.test(type)) return `HEX(CAST(${name} AS CHAR CHARACTER SET utf8mb4))`;
  if (/^(geom|point|line|poly|multi)/.test(type)) return `CONCAT(ST_SRID(${name}), '/', HEX(${name}))`;
  if (/^(tiny|small|medium|big)?int|^decimal|^year|^date|^time/.test(type)) return `CAST(${name} AS CHAR)`;
  return `CONCAT(LENGTH(${name}), '/', HEX(${name}))`;
}

function bits(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString("hex");
}
