/** One of the two MySQL servers as an integration test sees it. */
import { randomBytes } from "node:crypto";

import { createConnection } from "mysql2/promise";
import type { Connection, ConnectionOptions, QueryResult, RowDataPacket } from "mysql2/promise";

/** Values as a test wants to compare them: no rounded integers, no dates in a time zone. */
const admin: ConnectionOptions = {
  charset: "utf8mb4",
  supportBigNumbers: true,
  bigNumberStrings: true,
  dateStrings: true,
  multipleStatements: true,
  connectTimeout: 10_000,
};

/**
 * The code under test logs in as a user of this test's own, with all privileges. So whatever that user still has open at the
 * end is a leak of this test, however the code names its connections.
 */
export class TestMysql {
  readonly host: string;
  readonly port: number;
  readonly password = randomBytes(9).toString("hex");
  readonly #adminUrl: string;
  readonly #connections: Connection[] = [];
  #queries: Promise<Connection> | undefined;

  constructor(
    adminUrl: string,
    /** The test's own user. */
    readonly user: string,
  ) {
    const { hostname, port } = new URL(adminUrl);
    this.#adminUrl = adminUrl;
    this.host = hostname;
    this.port = Number(port || 3306);
  }

  /** For the code under test. */
  get url(): string {
    return `mysql://${this.user}:${this.password}@${this.host}:${this.port}/`;
  }

  /** A statement, or several, as the administrator; on one connection, so session variables stay. */
  async query<T extends QueryResult = RowDataPacket[]>(sql: string, values?: unknown[]): Promise<T> {
    this.#queries ??= this.connect();
    const connection = await this.#queries;
    const [result] = await connection.query<T>(sql, values);
    return result;
  }

  /** A further connection as the administrator, for what must run beside `query`; closed with the context. */
  async connect(options: ConnectionOptions = {}): Promise<Connection> {
    const connection = await createConnection({ uri: this.#adminUrl, ...admin, ...options });
    // a test may kill it, and an error event that nobody listens to ends the process
    connection.on("error", () => undefined);
    this.#connections.push(connection);
    return connection;
  }

  /** Makes the user. Not in the binlog, where a follow of another test would meet it. */
  async open(): Promise<void> {
    await this.#unlogged(
      `CREATE USER '${this.user}'@'%' IDENTIFIED BY '${this.password}'; GRANT ALL PRIVILEGES ON *.* TO '${this.user}'@'%' WITH GRANT OPTION`,
    );
  }

  /** Connections that the code under test has open, one line each. */
  async sessions(): Promise<{ id: number; text: string }[]> {
    const rows = await this.query("SHOW FULL PROCESSLIST");
    return rows
      .filter((row) => row["User"] === this.user)
      .map((row) => ({
        id: Number(row["Id"]),
        text: `${row["Command"]} ${row["Time"]} s ${row["State"] ?? ""} ${row["Info"] ?? ""}`.trim(),
      }));
  }

  /** Drops the user, its sessions and every schema whose name begins with `prefix`. */
  async clean(prefix: string): Promise<void> {
    for (const { id } of await this.sessions()) {
      // it may end between our look and the KILL
      await this.query(`KILL ${id}`).catch(() => undefined);
    }
    const schemas = await this.query("SELECT schema_name AS name FROM information_schema.schemata");
    const ours = schemas.map((row) => String(row["name"])).filter((name) => name.startsWith(prefix));
    const drops = ours.map((name) => `DROP DATABASE IF EXISTS \`${name}\``);
    for (const drop of drops) await this.query(drop);
    await this.#unlogged(`DROP USER IF EXISTS '${this.user}'@'%'`);
  }

  async close(): Promise<void> {
    for (const connection of this.#connections.splice(0)) connection.destroy();
    this.#queries = undefined;
  }

  async #unlogged(statements: string): Promise<void> {
    await this.query(`SET SESSION sql_log_bin = 0; ${statements}; SET SESSION sql_log_bin = 1`);
  }
}
