/**
 * Watches promise 1 from outside, all the time: how long DDL on the source waits, and how old transactions of ours get
 * on either server. The same DDL on a table that nobody uses tells what the machine itself takes for it.
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
  /** How long a metadata lock of ours on a table of the source was seen, from the first sample to the last (milliseconds). */
  ourOldestLockMsMax: number;
  /** Each probe's, so that runs can be taken together. */
  ddlWaitMs: number[];
  /** Those of the same statement on a table that nobody uses. */
  idleDdlMs: number[];
}

/** The value below which 99 of 100 lie; 0 of none. */
export function p99(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? 0;
}

/** A pause between two probes (milliseconds). */
const PROBE_PAUSE = 100;
const SAMPLE_PAUSE = 250;
/** A probe that fails has waited only if this is why: else its server was going down. */
const LOCK_WAIT_TIMEOUT = "ER_LOCK_WAIT_TIMEOUT";

export class Watch {
  private readonly waits: number[] = [];
  private readonly idle: number[] = [];
  private oldest = 0;
  private oldestLock = 0;
  /** When each metadata lock of ours that is held was seen first. */
  private locks = new Map<string, number>();
  private running = true;
  private readonly loops: Promise<void>[];

  constructor(private readonly options: WatchOptions) {
    const idle = { schema: `${options.schema}_idle`, table: "idle" };
    this.loops = [this.probeCopied(), this.probeIdle(idle), this.sample(options.sourceUrl), this.sample(options.targetUrl), this.sampleLocks()];
  }

  async stop(): Promise<WatchReport> {
    this.running = false;
    await Promise.all(this.loops);
    return {
      ddlWaitMsMax: Math.max(0, ...this.waits),
      ddlWaitMsP99: p99(this.waits),
      ourOldestTrxMsMax: Math.round(this.oldest),
      ourOldestLockMsMax: Math.round(this.oldestLock),
      ddlWaitMs: this.waits,
      idleDdlMs: this.idle,
    };
  }

  private probeCopied(): Promise<void> {
    const { schema, tables } = this.options;
    let next = 0;
    return this.loop(this.options.sourceUrl, PROBE_PAUSE, (connection) => alter(connection, schema, tables[next++ % tables.length] as string, this.waits));
  }

  private async probeIdle({ schema, table }: { schema: string; table: string }): Promise<void> {
    await this.once((connection) => connection.query(`SET SESSION sql_log_bin=0; CREATE DATABASE ${mysql.escapeId(schema)}; CREATE TABLE ${mysql.escapeId(schema)}.${mysql.escapeId(table)} (id INT PRIMARY KEY)`));
    await this.loop(this.options.sourceUrl, PROBE_PAUSE, (connection) => alter(connection, schema, table, this.idle));
    await this.once((connection) => connection.query(`SET SESSION sql_log_bin=0; DROP DATABASE ${mysql.escapeId(schema)}`));
  }

  private async once(work: (connection: Connection) => Promise<unknown>): Promise<void> {
    const connection = await mysql.createConnection({ uri: this.options.sourceUrl, multipleStatements: true });
    try {
      await work(connection);
    } finally {
      connection.destroy();
    }
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

  /** A lock is known by its thread and the event that took it; the server does not say since when it is held. */
  private sampleLocks(): Promise<void> {
    return this.loop(this.options.sourceUrl, SAMPLE_PAUSE, async (connection) => {
      const [rows] = await connection.query<RowDataPacket[]>(
        `SELECT l.OWNER_THREAD_ID AS thread, l.OWNER_EVENT_ID AS event, l.OBJECT_NAME AS name FROM performance_schema.metadata_locks AS l
         JOIN performance_schema.threads AS t ON t.THREAD_ID=l.OWNER_THREAD_ID WHERE l.OBJECT_TYPE='TABLE' AND l.LOCK_STATUS='GRANTED' AND l.OBJECT_SCHEMA=? AND t.PROCESSLIST_USER=?`,
        [this.options.schema, this.options.user],
      );
      const now = performance.now();
      const held = new Map<string, number>();
      for (const row of rows) {
        const key = `${row["thread"]} ${row["event"]} ${row["name"]}`;
        const since = this.locks.get(key) ?? now;
        held.set(key, since);
        this.oldestLock = Math.max(this.oldestLock, now - since);
      }
      this.locks = held;
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

/** A tiny ALTER takes the exclusive metadata lock that every DDL needs. It is not written to the binlog, and changes nothing. */
async function alter(connection: Connection, schema: string, table: string, times: number[]): Promise<void> {
  await connection.query("SET SESSION sql_log_bin=0, lock_wait_timeout=60");
  const begin = performance.now();
  const took = () => times.push(Math.round(performance.now() - begin));
  try {
    await connection.query(`ALTER TABLE ${mysql.escapeId(schema)}.${mysql.escapeId(table)} COMMENT='probed'`);
    took();
  } catch (error) {
    if ((error as { code?: unknown }).code === LOCK_WAIT_TIMEOUT) took();
    throw error;
  }
}
