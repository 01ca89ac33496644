/** A plain connection to one of the servers. */
import mysql, { type Connection } from "mysql2/promise";
import type { MysqlServer } from "../servers/index.js";

export async function connect(server: MysqlServer): Promise<Connection> {
  const connection = await mysql.createConnection({ uri: server.url, multipleStatements: true, charset: "utf8mb4" });
  // An error between two statements is the next statement's.
  connection.on("error", () => undefined);
  return connection;
}
