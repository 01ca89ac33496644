/** Both sides at the end: definitions as the servers show them, and every byte of every row. Nothing of Drover's is used. */
import mysql, { type Connection, type RowDataPacket } from "mysql2/promise";
import { compareTable, tableNames } from "../faults/compare.js";

export interface Sides {
  sourceUrl: string;
  targetUrl: string;
  schema: string;
  targetSchema: string;
  /** Tables that need not be on the target. */
  optional: (table: string) => boolean;
}

/** @returns what differs, in words; empty when both sides are equal */
export async function compareSides({ sourceUrl, targetUrl, schema, targetSchema, optional }: Sides): Promise<string[]> {
  const source = await mysql.createConnection(sourceUrl);
  const target = await mysql.createConnection(targetUrl);
  for (const db of [source, target]) db.on("error", () => undefined);
  try {
    const [names, others] = [await tableNames(source, schema), await tableNames(target, targetSchema)];
    const differences = others.filter((name) => !names.includes(name)).map((name) => `${name} is on the target only`);
    for (const name of names) {
      if (!others.includes(name)) {
        if (!optional(name)) differences.push(`${name} is not on the target`);
        continue;
      }
      const [a, b] = [await definition(source, schema, name), await definition(target, targetSchema, name)];
      if (a !== b) differences.push(`${name} is\n${a}\non the target\n${b}`);
      else differences.push(...(await compareTable(source, target, schema, name, targetSchema)));
    }
    return differences;
  } finally {
    source.destroy();
    target.destroy();
  }
}

/**
 * Without the counter, which moves by rows too, and with keys sorted, since they may be built in another order. Character sets and
 * collations are named or not depending on how the column came to be, so they are taken from elsewhere.
 */
async function definition(db: Connection, schema: string, table: string): Promise<string> {
  const [[row]] = await db.query<RowDataPacket[]>(`SHOW CREATE TABLE ${mysql.escapeId(schema)}.${mysql.escapeId(table)}`);
  const [columns] = await db.query<RowDataPacket[]>("SELECT COLUMN_NAME AS name, COLLATION_NAME AS collation FROM information_schema.COLUMNS WHERE TABLE_SCHEMA=? AND TABLE_NAME=? ORDER BY ORDINAL_POSITION", [schema, table]);
  const lines = String(row?.["Create Table"]).replace(/ AUTO_INCREMENT=\d+/, "").split("\n").map((line) => line.replace(/,$/, ""));
  const isKey = (line: string) => /^ {2}(UNIQUE |FULLTEXT |SPATIAL )?KEY /.test(line);
  const plain = lines.filter((line) => !isKey(line)).map((line) => (line.startsWith("  `") ? line.replace(/ CHARACTER SET \w+/, "").replace(/ COLLATE \w+/, "") : line));
  return [...plain, ...lines.filter(isKey).sort(), columns.map((column) => `${column["name"]}: ${column["collation"]}`).join(", ")].join("\n");
}
