/** The data: four tables as sysbench makes them. */
import type { MysqlServer } from "../scripts/servers/index.js";
import { connect } from "./connection.js";
import { progress } from "./progress.js";

export const SCHEMA = "bench";
export const TABLES = ["sbtest1", "sbtest2", "sbtest3", "sbtest4"] as const;

const PORTION = 25_000;

/** So many rows of a table, its part of `rows`. */
export function rowsOfTable(rows: number, index: number): number {
  return Math.floor(rows / TABLES.length) + (index < rows % TABLES.length ? 1 : 0);
}

/** Creates and fills the tables, outside of the binlog: what is there before a copy is not in anybody's backlog. */
export async function fill(server: MysqlServer, rows: number): Promise<void> {
  progress(`making ${rows} rows on the source`);
  const lanes = [TABLES.slice(0, 2), TABLES.slice(2)];
  const connection = await connect(server);
  await connection.query(`SET sql_log_bin=0; DROP DATABASE IF EXISTS ${SCHEMA}; CREATE DATABASE ${SCHEMA}`);
  await connection.end();
  await Promise.all(lanes.map((tables) => fillTables(server, tables, rows)));
}

async function fillTables(server: MysqlServer, tables: readonly string[], rows: number): Promise<void> {
  const connection = await connect(server);
  try {
    await connection.query(`SET sql_log_bin=0, cte_max_recursion_depth=${PORTION}`);
    for (const table of tables) {
      await connection.query(`CREATE TABLE ${SCHEMA}.${table} (
        id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
        k INT NOT NULL DEFAULT 0,
        c CHAR(120) NOT NULL DEFAULT '',
        pad CHAR(60) NOT NULL DEFAULT '')`);
      const count = rowsOfTable(rows, (TABLES as readonly string[]).indexOf(table));
      for (let done = 0; done < count; done += PORTION) {
        const portion = Math.min(PORTION, count - done);
        await connection.query(`INSERT INTO ${SCHEMA}.${table} (id, k, c, pad)
          WITH RECURSIVE seq (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM seq WHERE n < ${portion})
          SELECT ${done} + n, FLOOR(1 + RAND() * ${count}), CONCAT_WS('-', ${digits(10)}), CONCAT_WS('-', ${digits(5)}) FROM seq`);
      }
      await connection.query(`ALTER TABLE ${SCHEMA}.${table} ADD KEY k_1 (k)`);
      await connection.query(`ANALYZE NO_WRITE_TO_BINLOG TABLE ${SCHEMA}.${table}`);
    }
  } finally {
    await connection.end();
  }
}

/** Groups of eleven digits. */
function digits(groups: number): string {
  return Array.from({ length: groups }, () => "LPAD(FLOOR(RAND() * 1e11), 11, '0')").join(", ");
}
