/** Values into and out of the state schema's statements. */
import { DroverError } from "../errors.js";
import { bytesLiteral, textLiteral, type ByteSql } from "../mysql/bytes.js";
import type { TextRecord } from "../mysql/session.js";

/** A text or NULL. */
export function text(value: string | null): ByteSql {
  return value === null ? ("NULL" as ByteSql) : textLiteral(value);
}

/** Bytes or NULL, as a hex literal: exact in every `sql_mode`. */
export function blob(value: Buffer | null): ByteSql {
  if (value === null) return "NULL" as ByteSql;
  return (value.length === 0 ? "''" : `0x${value.toString("hex")}`) as ByteSql;
}

/** A JSON document in a text column. */
export function json(value: unknown): ByteSql {
  return textLiteral(JSON.stringify(value));
}

/** An id: ASCII by its contract, which whoever takes one from outside has checked. @throws DroverError BUG */
export function id(value: string): ByteSql {
  if (!/^[\x20-\x7e]*$/.test(value)) throw new DroverError("BUG", "an id that was not checked came to a statement");
  return bytesLiteral(value);
}

export const NOW = "UTC_TIMESTAMP(3)" as ByteSql;

/** Select a blob column under this expression to read it back with `blobOf`. */
export function hexOf(column: string): ByteSql {
  return `HEX(${column}) AS ${column}` as ByteSql;
}

export function blobOf(record: TextRecord, column: string): Buffer | null {
  const hex = record[column];
  return hex === null || hex === undefined ? null : Buffer.from(hex, "hex");
}

export function textOf(record: TextRecord, column: string): string {
  const value = record[column];
  if (value === null || value === undefined) throw new Error(`column ${column} is NULL`);
  return value;
}

export function numberOf(record: TextRecord, column: string): number {
  return Number(record[column] ?? 0);
}

/** `2026-12-01 10:00:00.000` in UTC to ISO 8601. */
export function isoOf(record: TextRecord, column: string): string | null {
  const value = record[column];
  return value === null || value === undefined ? null : `${value.replace(" ", "T")}Z`;
}
