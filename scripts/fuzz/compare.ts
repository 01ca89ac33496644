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

/** Without the counter, which moves by rows too; keys sorted, since they may be built in another order; and without collations that only repeat the default. */
async function definition(db: Connection, schema: string, table: string): Promise<string> {
  const [[row]] = await db.query<RowDataPacket[]>(`SHOW CREATE TABLE ${mysql.escapeId(schema)}.${mysql.escapeId(table)}`);
  const lines = String(row?.["Create Table"]).replace(/ AUTO_INCREMENT=\d+/, "").split("\n");
  const isKey = (line: string) => /^ {2}(UNIQUE |FULLTEXT |SPATIAL )?KEY /.test(line);
  const keys = lines.filter(isKey).map((line) => line.replace(/,$/, "")).sort();
  return [...lines.filter((line) => !isKey(line)).map((line) => line.replace(/,$/, "")), ...keys].join("\n").replaceAll(DEFAULTS, "$1");
}

const DEFAULTS = /(CHARACTER SET (\w+)) COLLATE (?:\2_general_ci|latin1_swedish_ci|gbk_chinese_ci|sjis_japanese_ci|gb18030_chinese_ci|utf8mb4_0900_ai_ci|utf8mb3_general_ci)(?![\w])/g;
