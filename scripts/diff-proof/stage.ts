/** What a proof stands on: two servers, a Redis, worker processes, a client. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DroverClient } from "../../src/producers/index.js";
import { loadConfig } from "../../src/shared/config.js";
import { WorkerProcess } from "../faults/worker-process.js";
import { openServers, type MysqlServer, type RedisServer, type Servers } from "../servers/index.js";
import { SCHEMA, TABLE } from "./ledger.js";

export const MIGRATION = "proof";

export const note = (line: string): void => void process.stderr.write(`${line}\n`);

export class Stage implements AsyncDisposable {
  readonly source: MysqlServer;
  readonly target: MysqlServer;
  private readonly redis: RedisServer;
  private readonly servers: Servers;
  private readonly folder: string;
  private readonly workers: WorkerProcess[] = [];
  private readonly clients: DroverClient[] = [];

  private constructor(parts: { servers: Servers; source: MysqlServer; target: MysqlServer; redis: RedisServer; folder: string }) {
    ({ servers: this.servers, source: this.source, target: this.target, redis: this.redis, folder: this.folder } = parts);
  }

  static async open(): Promise<Stage> {
    const servers = await openServers({ log: note });
    try {
      const config = { innodb_buffer_pool_size: "512M" };
      const [source, target, redis] = await Promise.all([servers.mysql({ name: "source", config }), servers.mysql({ name: "target", config }), servers.redis()]);
      return new Stage({ servers, source, target, redis, folder: await mkdtemp(join(tmpdir(), "drover-diff-proof-")) });
    } catch (error) {
      await servers.close();
      throw error;
    }
  }

  /** @param ports where workers find the servers, when not at their own */
  startWorkers(count: number, ports: { source: number; target: number } = { source: this.source.port, target: this.target.port }): void {
    for (let i = 0; i < count; i++) this.workers.push(new WorkerProcess({ env: this.environment(ports), logFile: join(this.folder, `worker-${this.workers.length}.log`) }));
  }

  async stopWorkers(): Promise<void> {
    await Promise.all(this.workers.splice(0).map((worker) => worker.stop()));
  }

  client(): DroverClient {
    const client = new DroverClient({ config: loadConfig(this.environment({ source: this.source.port, target: this.target.port })) });
    this.clients.push(client);
    return client;
  }

  /** Starts the migration of `tables` and waits until it has reached the phase. */
  async migrate(client: DroverClient, mode: "copy" | "copy+follow", table: string = TABLE): Promise<void> {
    const began = performance.now();
    await client.startMigration({ id: MIGRATION, source: "SRC", target: "DST", mode, tables: [{ schema: SCHEMA, include: [table] }] });
    await client.waitFor(MIGRATION, mode === "copy" ? "copied" : "streaming");
    note(`migration ready after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.clients.map((client) => client.close()));
    await this.stopWorkers();
    await this.servers.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  private environment(ports: { source: number; target: number }): Record<string, string> {
    const url = (server: MysqlServer, port: number) => server.url.replace(`:${server.port}/`, `:${port}/`);
    return {
      DROVER_REDIS_URL: this.redis.url,
      DROVER_PREFIX: "diffproof",
      DROVER_STATE_SCHEMA: "drover_proof",
      DROVER_CONNECTION_SRC: url(this.source, ports.source),
      DROVER_CONNECTION_DST: url(this.target, ports.target),
    };
  }
}
