/** What the servers say about one user's connections while something goes on: the most at one time, and the most at work. */
import { setTimeout as sleep } from "node:timers/promises";
import mysql, { type Connection, type RowDataPacket } from "mysql2/promise";
import type { MysqlServer } from "../servers/index.js";

export interface Seen {
  connections: number;
  statements: number;
  /** How often the server refused a connection for being one too many (1040, 1203, 1226). */
  refused: number;
}

/** Milliseconds between two looks. */
const INTERVAL = 10;

export class Watch {
  private readonly ending = new AbortController();
  private readonly looks: Promise<Record<"source" | "target", Seen>>;

  constructor(options: { source: MysqlServer; target: MysqlServer; user: string }) {
    this.looks = Promise.all([this.look(options.source, options.user), this.look(options.target, options.user)]).then(([source, target]) => ({ source, target }));
  }

  async end(): Promise<Record<"source" | "target", Seen>> {
    this.ending.abort();
    return await this.looks;
  }

  private async look(server: MysqlServer, user: string): Promise<Seen> {
    const db = await mysql.createConnection({ uri: server.url });
    const seen: Seen = { connections: 0, statements: 0, refused: 0 };
    const before = await refusals(db);
    try {
      while (!this.ending.signal.aborted) {
        // Not information_schema.PROCESSLIST: MySQL 9 refuses to read it (3854) while any session runs a statement with raw bytes.
        const [rows] = await db.query<RowDataPacket[]>("SELECT COUNT(*) AS n, SUM(PROCESSLIST_COMMAND IN ('Query','Execute')) AS busy FROM performance_schema.threads WHERE PROCESSLIST_USER=?", [user]);
        seen.connections = Math.max(seen.connections, Number(rows[0]?.["n"] ?? 0));
        seen.statements = Math.max(seen.statements, Number(rows[0]?.["busy"] ?? 0));
        await sleep(INTERVAL);
      }
      seen.refused = (await refusals(db)) - before;
      return seen;
    } finally {
      await db.end();
    }
  }
}

async function refusals(db: Connection): Promise<number> {
  const [rows] = await db.query<RowDataPacket[]>("SELECT COALESCE(SUM(SUM_ERROR_RAISED), 0) AS n FROM performance_schema.events_errors_summary_global_by_error WHERE ERROR_NUMBER IN (1040, 1203, 1226)");
  return Number(rows[0]?.["n"] ?? 0);
}
