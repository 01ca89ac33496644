/** Samples of a diff as people read them: keys, and on request values, as text. */
import type { DiffSample } from "../contracts/diff.js";
import { bounded } from "../errors.js";
import { copiedColumns, type ColumnDefinition, type TableDefinition } from "../columns/table-definition.js";
import { rowCells } from "../columns/text-row.js";
import { rowsByKey } from "../keys/chunk-select.js";
import { keyOfTable } from "../keys/key-columns.js";
import type { Session } from "../mysql/session.js";
import type { MigrationTable } from "./tables.js";

export interface ValueSessions {
  source: Session;
  target: Session;
}

/** Longest value shown, in characters. */
const LONGEST_VALUE = 1_000;

const BINARY_TYPES = new Set(["bit", "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "vector", "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geomcollection", "geometrycollection"]);

/** MySQL's names of character sets that Node knows by another one; `latin1` is Windows-1252 in both. */
const ENCODINGS: Record<string, string> = {
  utf8: "utf-8", utf8mb3: "utf-8", utf8mb4: "utf-8", ascii: "utf-8", latin1: "windows-1252", utf16: "utf-16be", utf16le: "utf-16le", ucs2: "utf-16be",
  gbk: "gbk", gb18030: "gb18030", gb2312: "gbk", big5: "big5", sjis: "shift_jis", cp932: "shift_jis", ujis: "euc-jp", eucjpms: "euc-jp", euckr: "euc-kr",
  latin2: "iso-8859-2", greek: "iso-8859-7", hebrew: "iso-8859-8", koi8r: "koi8-r", koi8u: "koi8-u", cp1250: "windows-1250", cp1251: "windows-1251", cp1256: "windows-1256", cp1257: "windows-1257",
};

/** Bytes 0x80 to 0x9F of Windows-1252, which Node decodes as ISO 8859-1 in several of its versions. */
const CP1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/** A row key by column name. @param key a text row of the key's cells */
export function sampleKey(definition: TableDefinition, key: Buffer): Record<string, string> {
  const cells = rowCells(key);
  const columns = keyOfTable(definition).columns;
  return Object.fromEntries(columns.map((c, i) => [c.column.name, cells[i] === null || cells[i] === undefined ? "" : cellText(c.column, cells[i])]));
}

/** The values that the row of this key has now on both sides. */
export async function sampleValues(sessions: ValueSessions, table: MigrationTable, key: Buffer): Promise<NonNullable<DiffSample["values"]>> {
  const { definition, target } = table;
  return {
    source: await valuesOf(sessions.source, definition, key),
    target: await valuesOf(sessions.target, { ...definition, schema: target.schema, table: target.table }, key),
  };
}

async function valuesOf(session: Session, definition: TableDefinition, key: Buffer): Promise<Record<string, string | null> | null> {
  let values: Record<string, string | null> | null = null;
  const columns = copiedColumns(definition);
  await session.readRows(rowsByKey(definition, [key]), (buffer, start, end) => {
    const cells = rowCells(buffer, start, end);
    values = Object.fromEntries(columns.map((column, i) => [column.name, cells[i] === null || cells[i] === undefined ? null : cellText(column, cells[i])]));
  });
  return values;
}

function cellText(column: ColumnDefinition, cell: Buffer): string {
  if (BINARY_TYPES.has(column.dataType)) return bounded(`0x${cell.subarray(0, LONGEST_VALUE).toString("hex").toUpperCase()}`, LONGEST_VALUE);
  const encoding = column.charset === null ? "utf-8" : ENCODINGS[column.charset];
  if (encoding === undefined) return bounded(`0x${cell.subarray(0, LONGEST_VALUE).toString("hex").toUpperCase()}`, LONGEST_VALUE);
  // Four bytes a character at most: what is cut here would be cut below.
  const text = new TextDecoder(encoding).decode(cell.subarray(0, LONGEST_VALUE * 4));
  return bounded(encoding === "windows-1252" ? text.replace(/[\u0080-\u009f]/g, (c) => CP1252[c.charCodeAt(0) - 0x80] as string) : text, LONGEST_VALUE);
}
