/** The bench's own connections: few, and idle while something is measured. */
import { createConnection, type Connection, type RowDataPacket } from "mysql2/promise";
import type { MysqlServer } from "../scripts/servers/index.js";

export function connect(server: MysqlServer): Promise<Connection> {
  return createConnection({ uri: server.url, multipleStatements: true, supportBigNumbers: true, bigNumberStrings: true });
}

/** Statements on a connection of their own; the rows of the last one. */
export async function ask(server: MysqlServer, sql: string): Promise<RowDataPacket[]> {
  const connection = await connect(server);
  try {
    const [result] = await connection.query<RowDataPacket[] | RowDataPacket[][]>(sql);
    return (Array.isArray(result[0]) ? result.at(-1) : result) as RowDataPacket[];
  } finally {
    await connection.end();
  }
}

/** `gtid_executed`, without line breaks. */
export async function executedSet(server: MysqlServer): Promise<string> {
  const [row] = await ask(server, "SELECT @@GLOBAL.gtid_executed AS position");
  return String(row?.["position"]).replaceAll(/\s/g, "");
}
