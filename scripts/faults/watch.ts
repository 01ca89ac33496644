/**
 * Watches promise 1 from outside, all the time: how long DDL on the source waits, and how old transactions of ours get
 * on either server.
 */
import { setTimeout as sleep } from "node:timers/promises";
import mysql, { type Connection, type RowDataPacket } from "mysql2/promise";

export interface WatchOptions {
  sourceUrl: string;
  targetUrl: string;
  /** The MySQL user that the workers log in as. */
  user: string;
  schema: string;
  tables: readonly string[];
}

export interface WatchReport {
  ddlWaitMsMax: number;
  ddlWaitMsP99: number;
  ourOldestTrxMsMax: number;
}

/** A pause between two probes (milliseconds). */
const PROBE_PAUSE = 100;
const SAMPLE_PAUSE = 250;

export class Watch {
  private readonly waits: number[] = [];
  private oldest = 0;
  private running = true;
  private readonly loops: Promise<void>[];

  constructor(private readonly options: WatchOptions) {
    this.loops = [this.probe(), this.sample(options.sourceUrl), this.sample(options.targetUrl)];
  }

  async stop(): Promise<WatchReport> {
    this.running = false;
    await Promise.all(this.loops);
    const sorted = [...this.waits].sort((a, b) => a - b);
    return {
      ddlWaitMsMax: Math.round(sorted.at(-1) ?? 0),
      ddlWaitMsP99: Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? 0),
      ourOldestTrxMsMax: Math.round(this.oldest),
    };
  }

  /** A tiny ALTER takes the exclusive metadata lock that every DDL needs. It is not written to the binlog, and changes nothing. */
  private probe(): Promise<void> {
    let next = 0;
    return this.loop(this.options.sourceUrl, PROBE_PAUSE, async (connection) => {
      const table = this.options.tables[next++ % this.options.tables.length] as string;
      await connection.query("SET SESSION sql_log_bin=0, lock_wait_timeout=60");
      const begin = performance.now();
      try {
        await connection.query(`ALTER TABLE ${mysql.escapeId(this.options.schema)}.${mysql.escapeId(table)} COMMENT='probed'`);
      } finally {
        this.waits.push(performance.now() - begin);
      }
    });
  }

  private sample(url: string): Promise<void> {
    return this.loop(url, SAMPLE_PAUSE, async (connection) => {
      const [rows] = await connection.query<RowDataPacket[]>(
        `SELECT TIMESTAMPDIFF(MICROSECOND, t.trx_started, NOW(6)) / 1000 AS age FROM information_schema.INNODB_TRX AS t
         JOIN information_schema.PROCESSLIST AS p ON p.ID=t.trx_mysql_thread_id WHERE p.USER=?`,
        [this.options.user],
      );
      for (const row of rows) this.oldest = Math.max(this.oldest, Number(row["age"]));
    });
  }

  /** Servers go away and come back in these runs: a lost connection is opened again. */
  private async loop(url: string, pause: number, step: (connection: Connection) => Promise<void>): Promise<void> {
    let connection: Connection | null = null;
    while (this.running) {
      try {
        connection ??= await openQuiet(url);
        await step(connection);
      } catch {
        connection?.destroy();
        connection = null;
      }
      await sleep(pause);
    }
    connection?.destroy();
  }
}

async function openQuiet(url: string): Promise<Connection> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: 2_000 });
  connection.on("error", () => undefined);
  return connection;
}
