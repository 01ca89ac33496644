/** What one run stands on: servers (shared by all runs), a user of its own, workers behind proxies, state to look at. */
import { Redis } from "ioredis";
import mysql, { type RowDataPacket } from "mysql2/promise";
import { DroverClient } from "../../src/producers/index.js";
import { loadConfig } from "../../src/shared/config.js";
import type { MysqlServer, RedisServer } from "../servers/index.js";
import { CuttingProxy } from "./cutting-proxy.js";
import { WorkerProcess } from "./worker-process.js";

export interface RigServers {
  source: MysqlServer;
  target: MysqlServer;
  redis: RedisServer;
}

export interface RigWorker {
  process: WorkerProcess;
  proxies: { source: CuttingProxy; target: CuttingProxy; redis: CuttingProxy };
}

export interface RigOptions {
  servers: RigServers;
  /** Names of the run: schema, state schema, prefix and user begin with it. */
  name: string;
  workers: number;
  logFile?: string;
}

export class Rig implements AsyncDisposable {
  readonly source: MysqlServer;
  readonly target: MysqlServer;
  readonly redis: RedisServer;
  readonly user: string;
  readonly schema: string;
  readonly stateSchema: string;
  readonly prefix: string;
  readonly workers: RigWorker[] = [];
  readonly notes: Record<string, number> = {};
  readonly client: DroverClient;
  private readonly background: Promise<void>[] = [];

  private constructor(private readonly options: RigOptions) {
    this.source = options.servers.source;
    this.target = options.servers.target;
    this.redis = options.servers.redis;
    this.user = `${options.name}_u`;
    this.schema = options.name;
    this.stateSchema = `${options.name}_state`;
    this.prefix = options.name;
    this.client = new DroverClient({ config: loadConfig(this.env(this.source.port, this.target.port, this.redis.port)) });
  }

  static async open(options: RigOptions): Promise<Rig> {
    const rig = new Rig(options);
    for (const server of [rig.source, rig.target]) {
      await admin(server.url, async (db) => {
        await db.query(`CREATE USER '${rig.user}'@'%' IDENTIFIED BY 'rig-password'`);
        await db.query(`GRANT ALL ON *.* TO '${rig.user}'@'%'`);
      });
    }
    for (let i = 0; i < options.workers; i++) rig.workers.push(await rig.openWorker());
    return rig;
  }

  /** Awaited before the run ends. */
  later(work: Promise<void>): void {
    this.background.push(work);
  }

  note(name: string, value: number): void {
    this.notes[name] = value;
  }

  async settle(): Promise<void> {
    await Promise.all(this.background);
  }

  /** Every key of the run: the Redis may be shared with other runs, and be somebody's own. */
  async flushRedis(): Promise<void> {
    const redis = new Redis(this.redis.url, { maxRetriesPerRequest: 1 });
    try {
      for await (const keys of redis.scanStream({ match: `${this.prefix}:*`, count: 1_000 }) as AsyncIterable<string[]>) if (keys.length > 0) await redis.unlink(keys);
    } finally {
      redis.disconnect();
    }
  }

  /** A small query on the target's state, by a plain connection. */
  async state<T>(statement: string): Promise<T[]> {
    return await admin(this.target.url, async (db) => {
      const [rows] = await db.query<RowDataPacket[]>(statement.replaceAll("@state", this.stateSchema));
      return rows as T[];
    });
  }

  async sourcePosition(): Promise<string> {
    return await admin(this.source.url, async (db) => {
      const [rows] = await db.query<RowDataPacket[]>("SELECT @@GLOBAL.gtid_executed AS position");
      return String(rows[0]?.["position"]);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
    for (const worker of this.workers) {
      await worker.process.kill();
      for (const proxy of Object.values(worker.proxies)) await proxy[Symbol.asyncDispose]();
    }
    for (const server of [this.source, this.target]) {
      await admin(server.url, async (db) => {
        for (const schema of [this.schema, this.stateSchema]) await db.query(`DROP DATABASE IF EXISTS ${schema}`);
        await db.query(`DROP USER '${this.user}'@'%'`);
      }).catch(() => undefined);
    }
  }

  private async openWorker(): Promise<RigWorker> {
    const proxies = {
      source: await CuttingProxy.open(this.source),
      target: await CuttingProxy.open(this.target),
      redis: await CuttingProxy.open(this.redis),
    };
    const env = this.env(proxies.source.port, proxies.target.port, proxies.redis.port);
    const log = this.options.logFile === undefined ? {} : { logFile: this.options.logFile };
    return { process: new WorkerProcess({ env, ...log }), proxies };
  }

  private env(source: number, target: number, redis: number): Record<string, string> {
    const url = (port: number) => `mysql://${this.user}:rig-password@127.0.0.1:${port}/`;
    return {
      DROVER_REDIS_URL: `redis://127.0.0.1:${redis}`,
      DROVER_PREFIX: this.prefix,
      DROVER_STATE_SCHEMA: this.stateSchema,
      DROVER_CONNECTION_SRC: url(source),
      DROVER_CONNECTION_DST: url(target),
    };
  }
}

async function admin<T>(url: string, work: (db: mysql.Connection) => Promise<T>): Promise<T> {
  const db = await mysql.createConnection({ uri: url, connectTimeout: 3_000 });
  db.on("error", () => undefined);
  try {
    return await work(db);
  } finally {
    db.destroy();
  }
}
