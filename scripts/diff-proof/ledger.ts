/** The table that is compared: every type of value of which a proof plants a difference. */
import type { Connection } from "mysql2/promise";
import type { MysqlServer } from "../servers/index.js";
import { connect } from "./connect.js";

export const SCHEMA = "proof";
export const TABLE = "ledger";
export const FULL_NAME = `${SCHEMA}.${TABLE}`;

const PORTION = 25_000;

/** Makes the table with the ids 1 to `rows`, without those of `absent`, and sets some values. */
export async function fillLedger(connection: Connection, rows: number, options: { absent?: readonly number[]; values?: readonly [id: number, assignment: string][] } = {}): Promise<void> {
  await connection.query(`SET sql_log_bin=0, cte_max_recursion_depth=${PORTION}, time_zone='+00:00'`);
  await connection.query(`CREATE DATABASE ${SCHEMA}`);
  await connection.query(`CREATE TABLE ${FULL_NAME} (
    id BIGINT NOT NULL PRIMARY KEY,
    v VARCHAR(60) NULL,
    c VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci NOT NULL,
    n INT NOT NULL,
    f FLOAT NOT NULL,
    d DOUBLE NOT NULL,
    j JSON NOT NULL,
    t TIMESTAMP NULL,
    KEY n (n))`);
  for (let done = 0; done < rows; done += PORTION)
    await connection.query(`INSERT INTO ${FULL_NAME}
      WITH RECURSIVE seq (i) AS (SELECT ${done + 1} UNION ALL SELECT i + 1 FROM seq WHERE i < ${Math.min(rows, done + PORTION)})
      SELECT i, CONCAT('value ', i), CONCAT('code', i), 0, i + 0.5, i / 7, JSON_OBJECT('k', i, 'm', JSON_ARRAY(i, 'x', NULL)), '2024-05-05 10:00:00' FROM seq`);
  if (options.absent?.length) await connection.query(`DELETE FROM ${FULL_NAME} WHERE id IN (${options.absent.join()})`);
  for (const [id, assignment] of options.values ?? []) await connection.query(`UPDATE ${FULL_NAME} SET ${assignment} WHERE id=${id}`);
  await connection.query(`ANALYZE NO_WRITE_TO_BINLOG TABLE ${FULL_NAME}`);
  await connection.query("SET sql_log_bin=1");
}

/** Count and checksum of all rows, by means that are not Drover's. */
export async function contentOf(server: MysqlServer): Promise<string> {
  const connection = await connect(server);
  try {
    await connection.query("SET time_zone='+00:00'");
    const [rows] = await connection.query(`SELECT COUNT(*) AS n, BIT_XOR(CRC32(CONCAT_WS('#', id, IFNULL(v, 'NULL'), HEX(v), HEX(c), n, f+0e0, d, j, IFNULL(t, 'NULL')))) AS crc FROM ${FULL_NAME}`);
    return JSON.stringify(rows);
  } finally {
    await connection.end();
  }
}
