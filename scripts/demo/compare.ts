/**
 * The demo's own judge. It shares nothing with Drover, least of all Drover's diff: plain connections, one hash per row
 * over the bytes of every column, every row of every table of both servers, and the tables' definitions beside them.
 */
import { createConnection } from "mysql2";
import type { Connection, RowDataPacket } from "mysql2";

export interface TableComparison {
  table: string;
  rows: number;
  different: number;
  missingOnTarget: number;
  extraOnTarget: number;
  /** Keys of some of them, in hex. */
  samples: string[];
  /** Columns or indexes that are not the same on both sides. */
  definitions: string[];
}

export interface CompareOptions {
  sourceUrl: string;
  targetUrl: string;
  schema: string;
  tables: readonly string[];
  signal: AbortSignal;
  onProgress: (rows: number) => void;
}

const MAX_SAMPLES = 5;

/** Both servers must be at rest: the tables are read once, one after the other. */
export async function compareSides(options: CompareOptions): Promise<TableComparison[]> {
  const { schema, tables, signal } = options;
  const open = (uri: string): Connection => createConnection({ uri, charset: "utf8mb4", supportBigNumbers: true });
  const [source, target] = [open(options.sourceUrl), open(options.targetUrl)];
  const onAbort = (): void => [source, target].forEach((connection) => connection.destroy());
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const results: TableComparison[] = [];
    let before = 0;
    for (const table of tables) {
      const result = await compareTable(source, target, schema, table, (rows) => options.onProgress(before + rows));
      results.push(result);
      before += result.rows;
    }
    return results;
  } catch (error) {
    // a destroyed connection says why in words of its own
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
    onAbort();
  }
}

export function isEqual(comparison: TableComparison): boolean {
  return comparison.different + comparison.missingOnTarget + comparison.extraOnTarget + comparison.definitions.length === 0;
}

async function compareTable(source: Connection, target: Connection, schema: string, table: string, onRows: (rows: number) => void): Promise<TableComparison> {
  const [ours, theirs] = await Promise.all([definitionOf(source, schema, table), definitionOf(target, schema, table)]);
  const result: TableComparison = { table, rows: 0, different: 0, missingOnTarget: 0, extraOnTarget: 0, samples: [], definitions: differences(ours.lines, theirs.lines) };
  const sample = (what: string, key: string): void => {
    if (result.samples.length < MAX_SAMPLES) result.samples.push(`${what} ${key}`);
  };
  // in the source's terms on both sides: a target whose columns differ fails here, or differs
  const statement = `SELECT ${textOf(ours.key)}, SHA2(${textOf(ours.columns)}, 256) FROM \`${schema}\`.\`${table}\``;
  const [sourceRows, targetRows] = await Promise.all([
    readAll(source, statement, (rows) => onRows((result.rows = rows))),
    readAll(target, statement, () => {}),
  ]);
  result.rows = sourceRows.size;
  for (const [key, hash] of sourceRows) {
    const other = targetRows.get(key);
    if (other === undefined) {
      result.missingOnTarget += 1;
      sample("missing on target", key);
    } else if (other !== hash) {
      result.different += 1;
      sample("different", key);
    }
  }
  for (const key of targetRows.keys()) {
    if (sourceRows.has(key)) continue;
    result.extraOnTarget += 1;
    sample("extra on target", key);
  }
  return result;
}

/** Hash by key. The keys of a table are its own, so no two of them are the same bytes. */
function readAll(connection: Connection, statement: string, onRows: (rows: number) => void): Promise<Map<string, string>> {
  const rows = new Map<string, string>();
  return new Promise((resolve, reject) => {
    connection
      .query({ sql: statement, rowsAsArray: true })
      .on("result", (row) => {
        const [key, hash] = row as unknown as [string, string];
        rows.set(key, hash);
        if (rows.size % 10_000 === 0) onRows(rows.size);
      })
      .on("error", reject)
      .on("end", () => resolve(rows));
  });
}

interface Definition {
  /** Expressions that give a column's value as text that says all of it. */
  columns: string[];
  key: string[];
  /** One per column and index part, for comparing. */
  lines: string[];
}

async function definitionOf(connection: Connection, schema: string, table: string): Promise<Definition> {
  const [columns] = await connection.promise().query<RowDataPacket[]>(
    `SELECT COLUMN_NAME AS name, DATA_TYPE AS type, COLUMN_KEY AS indexed, COLUMN_TYPE AS full, CHARACTER_SET_NAME AS charset, COLLATION_NAME AS collation,
       IS_NULLABLE AS nullable, COLUMN_DEFAULT AS fallback, EXTRA AS extra, GENERATION_EXPRESSION AS expression
     FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION`,
    [schema, table],
  );
  const [parts] = await connection.promise().query<RowDataPacket[]>(
    `SELECT INDEX_NAME AS name, SEQ_IN_INDEX AS part, COLUMN_NAME AS col, NON_UNIQUE AS repeats, SUB_PART AS prefix, COLLATION AS direction, INDEX_TYPE AS kind
     FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY INDEX_NAME, SEQ_IN_INDEX`,
    [schema, table],
  );
  const expression = (column: RowDataPacket): string => `HEX(${asText(`\`${column["name"]}\``, String(column["type"]))})`;
  return {
    columns: columns.map(expression),
    key: columns.filter((column) => column["indexed"] === "PRI").map(expression),
    lines: [...columns.map((column) => `column ${JSON.stringify(column)}`), ...parts.map((part) => `index ${JSON.stringify(part)}`)],
  };
}

/** HEX shows the bytes of a string as the column stores them, but of a number only the whole part. */
function asText(column: string, type: string): string {
  if (/char|text|blob|binary|enum|set|bit/.test(type)) return column;
  return `CAST(${type === "float" ? `CAST(${column} AS DOUBLE)` : column} AS CHAR)`;
}

/** Hex holds no comma and no dash, so no two different rows have the same text. */
function textOf(expressions: readonly string[]): string {
  return `CONCAT_WS(',', ${expressions.map((expression) => `IFNULL(${expression}, '-')`).join(", ")})`;
}

function differences(ours: readonly string[], theirs: readonly string[]): string[] {
  return [...ours.filter((line) => !theirs.includes(line)).map((line) => `only on the source: ${line}`), ...theirs.filter((line) => !ours.includes(line)).map((line) => `only on the target: ${line}`)];
}
