/** The accounts that Drover logs in with: not the servers' administrators, but what docs/grants.md asks for and no more. */
import { randomBytes } from "node:crypto";

import { createConnection } from "mysql2/promise";

import type { MysqlServer } from "../servers/index.js";
import { SCHEMA } from "./shop-schema.js";

export const STATE_SCHEMA = "drover_demo";
export const ACCOUNT = "drover_demo";

const SOURCE_GRANTS = [`SELECT ON \`${SCHEMA}\`.*`, "REPLICATION SLAVE, REPLICATION CLIENT ON *.*"];
const TARGET_GRANTS = [
  `SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, REFERENCES ON \`${SCHEMA}\`.*`,
  // in a grant an underscore stands for any character
  `SELECT, INSERT, UPDATE, DELETE, CREATE ON \`${STATE_SCHEMA.replaceAll("_", "\\_")}\`.*`,
];

/** @returns the URL of an account on this server that can do what its side needs */
export async function createAccount(server: MysqlServer, side: "source" | "target"): Promise<string> {
  const password = randomBytes(12).toString("hex");
  const connection = await createConnection(server.url);
  try {
    await connection.query(`CREATE USER '${ACCOUNT}'@'%' IDENTIFIED BY '${password}'`);
    for (const grant of side === "source" ? SOURCE_GRANTS : TARGET_GRANTS) await connection.query(`GRANT ${grant} TO '${ACCOUNT}'@'%'`);
  } finally {
    await connection.end();
  }
  return `mysql://${ACCOUNT}:${password}@${server.host}:${server.port}/`;
}
