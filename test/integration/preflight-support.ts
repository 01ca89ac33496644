/** Servers of a preflight test's own: their settings are changed, and nothing else may write to them. */
import { createConnection, type Connection, type RowDataPacket } from "mysql2/promise";
import type { MysqlServer } from "../../scripts/servers/index.js";
import { loadConfig } from "../../src/shared/config.js";
import { parseMigrationSpec } from "../../src/shared/contracts/spec.js";
import { Connections } from "../../src/shared/mysql/connections.js";
import { runPreflight, type Finding } from "../../src/shared/preflight/index.js";

export class PreflightServer implements AsyncDisposable {
  readonly server: MysqlServer;
  readonly #connection: Connection;

  private constructor(server: MysqlServer, connection: Connection) {
    this.server = server;
    this.#connection = connection;
  }

  static async open(server: MysqlServer): Promise<PreflightServer> {
    return new PreflightServer(server, await createConnection({ uri: server.url, multipleStatements: true, charset: "utf8mb4" }));
  }

  async query(sql: string): Promise<RowDataPacket[]> {
    const [rows] = await this.#connection.query<RowDataPacket[]>(sql);
    return rows;
  }

  url(user: string, password: string): string {
    return `mysql://${user}:${password}@${this.server.host}:${this.server.port}/`;
  }

  /** Everything that a check could change: two of these are compared. */
  async snapshot(): Promise<unknown> {
    const status = this.server.flavor === "mysql" ? "SHOW BINARY LOG STATUS" : "SHOW MASTER STATUS";
    return {
      databases: await this.query("SHOW DATABASES"),
      tables: await this.query("SELECT TABLE_SCHEMA, TABLE_NAME, CREATE_TIME, UPDATE_TIME FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN ('sys','performance_schema','information_schema') ORDER BY 1, 2"),
      binlog: await this.query(status),
      users: await this.query("SELECT User, Host FROM mysql.user ORDER BY 1, 2"),
      variables: (await this.query("SHOW GLOBAL VARIABLES")).filter((row) => row["Variable_name"] !== "timestamp"),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.destroy();
    await this.server.close();
  }
}

export interface PreflightRun {
  /** URLs by connection name. */
  connections: Record<string, string>;
  spec: Record<string, unknown>;
  stateSchema?: string;
}

/** Runs the preflight of `spec` from SRC to DST. */
export async function preflight({ connections: urls, spec, stateSchema = "drover" }: PreflightRun): Promise<Finding[]> {
  const config = loadConfig(Object.fromEntries(Object.entries(urls).map(([name, url]) => [`DROVER_CONNECTION_${name}`, url])));
  const connections = new Connections({ config, worker: "preflight-test" });
  try {
    return await runPreflight({ config, connections, spec: parseMigrationSpec({ id: "m", source: "SRC", target: "DST", ...spec }), stateSchema, signal: new AbortController().signal });
  } finally {
    connections.close();
  }
}

export function codes(findings: readonly Finding[]): string[] {
  return findings.map((finding) => finding.code);
}
