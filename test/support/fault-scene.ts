/**
 * A deployment under test that may be hurt: an application schema on a source, a state schema on a target, workers in this
 * process and in processes of their own. Its MySQL user is its own, so whatever that user still has open is Drover's.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import mysql, { type Connection, type RowDataPacket } from "mysql2/promise";
import { compareSchemas } from "../../scripts/faults/compare.js";
import { WorkerProcess } from "../../scripts/faults/worker-process.js";
import { DroverClient, type MigrationSpecInput } from "../../src/producers/index.js";
import { loadConfig } from "../../src/shared/config.js";
import { createLogger } from "../../src/shared/logger.js";
import type { Hooks } from "../../src/workers/hooks.js";
import { runWorker, type RunningWorker } from "../../src/workers/index.js";

type Side = "source" | "target";

/** Administrators' URLs. */
export interface SceneServers {
  source: string;
  target: string;
  redis: string;
}

/** A server notices a closed connection a moment after the client closed it; a killed client's after its time limit at most. */
const LEAK_PATIENCE = 11_000;

export class FaultScene implements AsyncDisposable {
  readonly id = `ft_${randomBytes(5).toString("hex")}`;
  readonly schema = `${this.id}_db`;
  readonly stateSchema = `${this.id}_state`;
  readonly client: DroverClient;
  readonly servers: SceneServers;
  /** Overrides of the workers' settings, for those that start from now on. */
  readonly overrides: Record<string, string> = {};
  private readonly password = randomBytes(9).toString("hex");
  private readonly workers = new Set<RunningWorker>();
  private readonly processes = new Set<WorkerProcess>();
  private readonly admins = new Map<Side, Promise<Connection>>();

  private constructor(servers: SceneServers) {
    this.servers = { ...servers };
    this.client = new DroverClient({ config: loadConfig(this.env) });
  }

  /** @param tables SQL that makes the application's tables, run in its schema on the source */
  static async open(servers: SceneServers, tables: string): Promise<FaultScene> {
    const scene = new FaultScene(servers);
    try {
      await Promise.all([scene.addUser(servers.source), scene.addUser(servers.target)]);
      await scene.sql("source", `CREATE DATABASE ${scene.schema}; USE ${scene.schema}; SET SESSION cte_max_recursion_depth=10000000; ${tables}`);
      return scene;
    } catch (error) {
      await scene[Symbol.asyncDispose]();
      throw error;
    }
  }

  get env(): Record<string, string> {
    return {
      DROVER_REDIS_URL: this.servers.redis,
      DROVER_PREFIX: this.id,
      DROVER_STATE_SCHEMA: this.stateSchema,
      DROVER_CONNECTION_SRC: this.urlOn(this.servers.source),
      DROVER_CONNECTION_DST: this.urlOn(this.servers.target),
      ...this.overrides,
    };
  }

  /** A server's URL as the scene's user. */
  urlOn(server: string): string {
    const { hostname, port } = new URL(server);
    return `mysql://${this.id}:${this.password}@${hostname}:${port}/`;
  }

  /** Makes the scene's user; not in the binlog, where a follower would meet it. */
  async addUser(server: string): Promise<void> {
    const db = await connect(server);
    await db.query(`SET SESSION sql_log_bin=0; CREATE USER '${this.id}'@'%' IDENTIFIED BY '${this.password}'; GRANT ALL ON *.* TO '${this.id}'@'%' WITH GRANT OPTION`);
    db.destroy();
  }

  /** A worker in this process. */
  async worker(hooks?: Hooks): Promise<RunningWorker> {
    const log = createLogger(process.env["DROVER_LOG_LEVEL"] ?? "silent");
    const worker = await runWorker({ config: loadConfig(this.env), log, ...(hooks ? { hooks } : {}) });
    this.workers.add(worker);
    return worker;
  }

  async close(worker: RunningWorker): Promise<void> {
    this.workers.delete(worker);
    await worker.close();
  }

  /** A worker as a process of its own; `ensureBuilt` comes first. */
  process(): WorkerProcess {
    const logFile = process.env["DROVER_TEST_LOG"];
    const child = new WorkerProcess({ env: this.env, ...(logFile === undefined ? {} : { logFile }) });
    this.processes.add(child);
    return child;
  }

  async start(options: MigrationSpecInput["options"] = {}, id = "m", tables: MigrationSpecInput["tables"] = [{ schema: this.schema }]): Promise<void> {
    await this.client.startMigration({ id, source: "SRC", target: "DST", tables, options });
  }

  /** Statements as the administrator; one connection per side, opened again when the server was away. */
  async sql<T = RowDataPacket>(side: Side, statements: string): Promise<T[]> {
    try {
      return await this.query<T>(side, statements);
    } catch (error) {
      // Nothing was sent: the server had been away.
      if (!(error instanceof Error) || !/closed state/.test(error.message)) throw error;
      return await this.query<T>(side, statements);
    }
  }

  /** Another server takes the source's place: for us, and for workers that start from now on. */
  async moveSource(url: string): Promise<void> {
    await this.admins.get("source")?.then((db) => db.destroy(), () => undefined);
    this.admins.delete("source");
    this.servers.source = url;
  }

  private async query<T>(side: Side, statements: string): Promise<T[]> {
    let admin = this.admins.get(side);
    if (admin === undefined) {
      admin = connect(this.servers[side]);
      this.admins.set(side, admin);
    }
    try {
      const [rows] = await (await admin).query(statements);
      return rows as T[];
    } catch (error) {
      void admin.then((db) => db.destroy(), () => undefined);
      this.admins.delete(side);
      throw error;
    }
  }

  /** A further connection of the application's, in its schema; the caller destroys it. */
  async connect(side: Side = "source"): Promise<Connection> {
    const db = await connect(this.servers[side]);
    if (side === "source") await db.query(`USE ${this.schema}`);
    return db;
  }

  /** A query on the state schema (`@state`). */
  async state<T>(statement: string): Promise<T[]> {
    return await this.sql<T>("target", statement.replaceAll("@state", this.stateSchema));
  }

  async chunksDone(migration = "m"): Promise<number> {
    const [row] = await this.state<{ n: number }>(`SELECT COUNT(*) AS n FROM @state.chunks WHERE migration='${migration}' AND state='done'`);
    return Number(row?.n ?? 0);
  }

  async fence(migration = "m"): Promise<{ epoch: number; seq: number; position: string; applied_rows: number; applied_transactions: number }> {
    const [row] = await this.state<{ epoch: number; seq: number; position: string; applied_rows: number; applied_transactions: number }>(`SELECT * FROM @state.fence WHERE migration='${migration}'`);
    if (row === undefined) throw new Error("there is no fence");
    return row;
  }

  /** Sessions of Drover's on a server: workers', and the client's unless `worker` says whose. */
  async sessions(side: Side, match: { worker?: string; role?: string } = {}): Promise<number[]> {
    const like = match.worker === undefined ? "%" : `%${match.worker}%`;
    const rows = await this.sql<{ id: number }>(side, `SELECT p.ID AS id FROM information_schema.PROCESSLIST AS p
      JOIN performance_schema.session_connect_attrs AS a ON a.PROCESSLIST_ID=p.ID AND a.ATTR_NAME='drover_worker' AND a.ATTR_VALUE LIKE '${like}'
      JOIN performance_schema.session_connect_attrs AS r ON r.PROCESSLIST_ID=p.ID AND r.ATTR_NAME='drover_role' AND r.ATTR_VALUE LIKE '${match.role ?? "%"}'
      WHERE p.USER='${this.id}'`);
    return rows.map((row) => Number(row.id));
  }

  /** KILLs sessions of Drover's as an operator would. @returns how many */
  async killSessions(side: Side, role?: string): Promise<number> {
    const ids = await this.sessions(side, role === undefined ? {} : { role });
    for (const id of ids) await this.sql(side, `KILL ${id}`).catch(() => undefined);
    return ids.length;
  }

  /** Open transactions of Drover's on a server, with the age in seconds that each has at least: InnoDB cuts the time of its start to the second. */
  async transactions(side: Side): Promise<number[]> {
    const rows = await this.sql<{ age: number }>(side, `SELECT TIMESTAMPDIFF(MICROSECOND, t.trx_started, NOW(6)) / 1e6 - 1 AS age FROM information_schema.INNODB_TRX AS t
      JOIN information_schema.PROCESSLIST AS p ON p.ID=t.trx_mysql_thread_id WHERE p.USER='${this.id}'`);
    return rows.map((row) => Number(row.age));
  }

  /** What differs between both servers after everything committed so far has been applied; empty when all is well. */
  async differences(): Promise<string[]> {
    await this.applied();
    return await compareSchemas(this.servers.source, this.servers.target, this.schema);
  }

  /** Waits until everything that is committed on the source now is applied. */
  async applied(patience = 60_000): Promise<void> {
    const [row] = await this.sql<{ position: string }>("source", "SELECT @@GLOBAL.gtid_executed AS position");
    await until(async () => {
      const { phase, error } = await this.client.status("m");
      if (phase === "failed") throw new Stop(`the migration failed: ${error?.code} ${error?.message}`);
      const [fence] = await this.state<{ ok: number }>(`SELECT GTID_SUBSET('${row?.position}', position) AS ok FROM @state.fence WHERE migration='m'`);
      return (phase === "streaming" || phase === "catching-up") && fence?.ok === 1;
    }, "everything to be applied", patience);
  }

  async phase(wanted: string, patience = 60_000): Promise<void> {
    await until(async () => {
      const { phase, error } = await this.client.status("m");
      if (phase === "failed" && wanted !== "failed") throw new Stop(`the migration failed: ${error?.code} ${error?.message}`);
      return phase === wanted;
    }, `phase ${wanted}`, patience);
  }

  /** @throws when a session of ours stays open on either server */
  async expectNoSessions(match: { worker?: string } = {}, patience = LEAK_PATIENCE): Promise<void> {
    for (const side of ["source", "target"] as const)
      await until(async () => (await this.sessions(side, match)).length === 0, `our sessions on the ${side} to end`, patience);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await Promise.all([...this.processes].map((child) => child.kill()));
      await Promise.all([...this.workers].map((worker) => worker.close()));
      await this.client.close();
      await this.expectNoSessions();
    } finally {
      await this.removeKeys().catch(() => undefined);
      for (const side of ["source", "target"] as const) {
        await this.sql(side, `SET SESSION sql_log_bin=1; DROP DATABASE IF EXISTS ${this.schema}; DROP DATABASE IF EXISTS ${this.stateSchema}`).catch(() => undefined);
        await this.sql(side, `SET SESSION sql_log_bin=0; DROP USER IF EXISTS '${this.id}'@'%'`).catch(() => undefined);
        await this.admins.get(side)?.then((db) => db.destroy(), () => undefined);
      }
    }
  }

  private async removeKeys(): Promise<void> {
    const redis = new Redis(this.servers.redis, { maxRetriesPerRequest: 1 });
    redis.on("error", () => undefined);
    try {
      for await (const keys of redis.scanStream({ match: `${this.id}*`, count: 1000 })) if ((keys as string[]).length > 0) await redis.unlink(...(keys as string[]));
    } finally {
      redis.disconnect();
    }
  }
}

async function connect(url: string): Promise<Connection> {
  const db = await mysql.createConnection({ uri: url, multipleStatements: true, connectTimeout: 5_000, supportBigNumbers: true });
  db.on("error", () => undefined);
  return db;
}

/** Ends an `until` at once. */
class Stop extends Error {}

/** Polls; an error counts as "not yet", for a server may be away. @throws after `patience` milliseconds */
export async function until(done: () => Promise<boolean> | boolean, what: string, patience = 30_000): Promise<void> {
  let last = "";
  for (const deadline = Date.now() + patience; Date.now() < deadline; await sleep(25)) {
    try {
      if (await done()) return;
      last = "";
    } catch (error) {
      if (error instanceof Stop) throw error;
      last = error instanceof Error ? `: ${error.message}` : "";
    }
  }
  throw new Error(`waited ${patience} ms for ${what}${last}`);
}

/** A table `name` of `rows` rows `(id, v)`, whose values are `width` long. */
export function numbered(name: string, rows: number, width = 20): string {
  return `CREATE TABLE ${name} (id INT PRIMARY KEY, v VARCHAR(4000));
    INSERT INTO ${name} WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<${rows}) SELECT i, RPAD(CONCAT('v', i), ${width}, '.') FROM n;`;
}

/** Repeats `step` until it is told to stop; errors of a server that is away are of no interest. */
export class Loop {
  private running = true;
  private readonly done: Promise<void>;
  turns = 0;

  constructor(step: (turn: number) => Promise<unknown>, pause = 5) {
    this.done = (async () => {
      while (this.running) {
        await step(this.turns).then(() => (this.turns += 1), () => undefined);
        await sleep(pause);
      }
    })();
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.done;
  }
}
