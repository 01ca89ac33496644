/** Servers with users and data for many migrations, and how far these are. */
import { setTimeout as sleep } from "node:timers/promises";
import mysql, { type Connection, type RowDataPacket } from "mysql2/promise";
import type { MysqlServer } from "../servers/index.js";

/** `mover` is the workers' user, so that what the servers count of it is theirs alone; `looker` starts and watches. */
type User = "mover" | "looker";

export interface SchemaToMove {
  schema: string;
  size: "huge" | "middling" | "small" | "alone";
  rows: number;
}

const STATE_SCHEMA = "many_state";
const PASSWORD = "field-password";
/** How long all of it may take, in milliseconds. */
const PATIENCE = 8 * 60_000;

export class Field implements AsyncDisposable {
  private constructor(
    private readonly options: { source: MysqlServer; target: MysqlServer; redis: string },
    private readonly source: Connection,
    private readonly target: Connection,
  ) {}

  static async open(options: { source: MysqlServer; target: MysqlServer; redis: string }): Promise<Field> {
    const connect = (server: MysqlServer) => mysql.createConnection({ uri: server.url, multipleStatements: true });
    const field = new Field(options, await connect(options.source), await connect(options.target));
    for (const server of [field.source, field.target])
      for (const user of ["mover", "looker"]) await server.query(`CREATE USER ${user}@'%' IDENTIFIED BY '${PASSWORD}'; GRANT ALL ON *.* TO ${user}@'%'`);
    return field;
  }

  env(user: User): Record<string, string> {
    const url = ({ host, port }: MysqlServer) => `mysql://${user}:${PASSWORD}@${host}:${port}/`;
    return { DROVER_REDIS_URL: this.options.redis, DROVER_PREFIX: "many", DROVER_STATE_SCHEMA: STATE_SCHEMA, DROVER_CONNECTION_SRC: url(this.options.source), DROVER_CONNECTION_DST: url(this.options.target) };
  }

  /** A tenth of them huge, a fifth middling, the rest small; and some that are like the small ones, to be run alone. */
  async createMigrations(count: number, alone: number): Promise<SchemaToMove[]> {
    const huge = Math.ceil(count / 10);
    const middling = Math.ceil(count / 5);
    const sizeOf = (i: number): SchemaToMove["size"] => (i < alone ? "alone" : i < alone + huge ? "huge" : i < alone + huge + middling ? "middling" : "small");
    const rows = { huge: 250_000, middling: 40_000, small: 2_000, alone: 2_000 };
    const schemas = Array.from({ length: alone + count }, (_, i) => ({ schema: `m${String(i).padStart(2, "0")}`, size: sizeOf(i), rows: rows[sizeOf(i)] }));
    await this.source.query(`CREATE DATABASE many_rows; CREATE TABLE many_rows.n (i INT PRIMARY KEY); SET SESSION cte_max_recursion_depth=10000000;
      INSERT INTO many_rows.n WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<${rows.huge}) SELECT i FROM n`);
    for (const { schema, rows: n } of schemas)
      await this.source.query(`CREATE DATABASE ${schema}; CREATE TABLE ${schema}.orders (id INT PRIMARY KEY AUTO_INCREMENT, customer INT NOT NULL, total DECIMAL(10,2), note VARCHAR(120), KEY (customer));
        INSERT INTO ${schema}.orders SELECT i, i % 997, i / 8, SHA2(i, 256) FROM many_rows.n WHERE i <= ${n}`);
    return schemas;
  }

  spec(schema: string) {
    return { id: schema, source: "SRC", target: "DST", tables: [{ schema }] };
  }

  /** @returns by each migration the seconds from now until it streams; Infinity for one that does not */
  async untilStreaming(ids: readonly string[]): Promise<number[]> {
    const begin = Date.now();
    const took = new Map<string, number>();
    while (took.size < ids.length && Date.now() - begin < PATIENCE) {
      // Before the first migration there is no state schema.
      const [rows] = await this.target.query<RowDataPacket[]>(`SELECT id, phase FROM ${STATE_SCHEMA}.migrations`).catch(() => [[]] as [RowDataPacket[]]);
      for (const row of rows) {
        const id = String(row["id"]);
        if (row["phase"] === "streaming" && ids.includes(id) && !took.has(id)) took.set(id, (Date.now() - begin) / 1000);
      }
      await sleep(50);
    }
    return ids.map((id) => took.get(id) ?? Infinity);
  }

  async countEqual(schemas: readonly string[]): Promise<number> {
    const sum = async (server: Connection, schema: string) => {
      const [rows] = await server.query<RowDataPacket[]>(`CHECKSUM TABLE ${schema}.orders`);
      return rows[0]?.["Checksum"] as unknown;
    };
    let equal = 0;
    for (const schema of schemas) {
      const ours = await sum(this.source, schema);
      if (ours !== null && ours === (await sum(this.target, schema))) equal += 1;
    }
    return equal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.source.end(), this.target.end()]);
  }
}
