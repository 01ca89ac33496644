/** No figure without this: the rows, their checksums and the indexes of both sides are equal. */
import type { MysqlServer } from "../scripts/servers/index.js";
import { ask } from "./connection.js";
import { SCHEMA, TABLES } from "./data.js";

/** @returns how many rows there are @throws Error that names what differs */
export async function requireEqual(who: string, source: MysqlServer, target: MysqlServer): Promise<number> {
  const [mine, theirs] = await Promise.all([contentOf(source), contentOf(target)]);
  for (const [name, value] of Object.entries(mine.facts)) {
    if (theirs.facts[name] !== value) throw new Error(`${who}: ${name} is ${value} on the source and ${theirs.facts[name]} on the target`);
  }
  return mine.rows;
}

async function contentOf(server: MysqlServer): Promise<{ rows: number; facts: Record<string, string> }> {
  const facts: Record<string, string> = {};
  let rows = 0;
  for (const table of TABLES) {
    const [count] = await ask(server, `SELECT COUNT(*) AS n FROM ${SCHEMA}.${table}`);
    const [checksum] = await ask(server, `CHECKSUM TABLE ${SCHEMA}.${table} EXTENDED`);
    const indexes = await ask(server, `SELECT INDEX_NAME AS name, COLUMN_NAME AS col FROM information_schema.STATISTICS
      WHERE TABLE_SCHEMA='${SCHEMA}' AND TABLE_NAME='${table}' ORDER BY INDEX_NAME, SEQ_IN_INDEX`);
    rows += Number(count?.["n"]);
    facts[`the row count of ${table}`] = String(count?.["n"]);
    facts[`the checksum of ${table}`] = String(checksum?.["Checksum"]);
    facts[`the list of indexes of ${table}`] = indexes.map((index) => `${index["name"]}(${index["col"]})`).join(" ");
  }
  return { rows, facts };
}
