/** Drover's side: real worker processes, commanded by the client. */
import { spawn, type ChildProcess } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Connection, RowDataPacket } from "mysql2/promise";
import type { MysqlServer, RedisServer } from "../scripts/servers/index.js";
import { DroverClient, type MigrationSpecInput } from "../src/producers/index.js";
import { loadConfig } from "../src/shared/config.js";
import { connect } from "./connection.js";
import { SCHEMA } from "./data.js";
import { maxRssMb } from "./resources.js";

const STATE_SCHEMA = "drover_bench";
const CLI = new URL("../dist/producers/cli/main.js", import.meta.url).pathname;
const POLL = 50;

export interface DroverOptions {
  redis: RedisServer;
  /** By connection name. */
  servers: Record<string, MysqlServer>;
  workers: number;
  profile: string | null;
}

export class Drover implements AsyncDisposable {
  readonly client: DroverClient;
  private readonly options: DroverOptions;
  private readonly environment: Record<string, string>;
  private readonly folder: string;
  private workers: ChildProcess[] = [];
  private rss = 0;

  private constructor(options: DroverOptions, folder: string) {
    this.options = options;
    this.folder = folder;
    this.environment = {
      DROVER_REDIS_URL: options.redis.url,
      DROVER_PREFIX: "bench",
      DROVER_STATE_SCHEMA: STATE_SCHEMA,
      DROVER_LOG_LEVEL: "info",
      ...Object.fromEntries(Object.entries(options.servers).map(([name, server]) => [`DROVER_CONNECTION_${name}`, server.url])),
    };
    this.client = new DroverClient({ config: loadConfig(this.environment) });
  }

  static async open(options: DroverOptions): Promise<Drover> {
    const drover = new Drover(options, await mkdtemp(join(tmpdir(), "drover-bench-")));
    for (let i = 0; i < options.workers; i++) drover.spawnWorker(i);
    // Their start is not part of any figure.
    await sleep(2_000);
    return drover;
  }

  get pids(): (number | undefined)[] {
    return this.workers.map((worker) => worker.pid);
  }

  /** The most memory that any worker held so far, in MB. */
  get workerMaxRssMb(): number {
    return (this.rss = Math.max(this.rss, maxRssMb(this.pids)));
  }

  async start(id: string, target: string, mode: "copy" | "copy+follow"): Promise<void> {
    const spec: MigrationSpecInput = { id, source: "SRC", target, mode, tables: [{ schema: SCHEMA, include: ["*"] }] };
    await this.client.startMigration(spec);
  }

  /** Waits until the migration's tables are copied and their indexes built. */
  async copied(id: string, target: string): Promise<void> {
    await this.until(target, `SELECT phase IN ('catching-up','streaming','completed') AS reached, phase, error FROM ${STATE_SCHEMA}.migrations WHERE id='${id}'`);
  }

  /** Waits until the target holds everything up to `position`. */
  async applied(id: string, target: string, position: string): Promise<void> {
    await this.until(target, `SELECT GTID_SUBSET('${position}', f.position) AS reached, m.phase, m.error
      FROM ${STATE_SCHEMA}.fence AS f JOIN ${STATE_SCHEMA}.migrations AS m ON m.id=f.migration WHERE m.id='${id}'`);
  }

  /** Ends a migration and forgets it; the target keeps its rows. */
  async forget(id: string): Promise<void> {
    const { phase } = await this.client.status(id);
    if (phase !== "completed") await this.client.stop(id);
    await this.client.remove(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    void this.workerMaxRssMb;
    await this.client.close();
    const ended = this.workers.filter((worker) => worker.exitCode === null).map((worker) => new Promise((resolve) => worker.once("exit", resolve)));
    for (const worker of this.workers) worker.kill("SIGTERM");
    await Promise.all(ended);
    await rm(this.folder, { recursive: true });
  }

  private async until(target: string, query: string): Promise<void> {
    const server = this.options.servers[target];
    if (server === undefined) throw new Error(`no server ${target}`);
    const connection: Connection = await connect(server);
    try {
      for (;;) {
        const dead = this.workers.findIndex((worker) => worker.exitCode !== null);
        if (dead >= 0) throw new Error(`worker ${dead} ended\n${await this.logEnd(dead)}`);
        // Right after the start the state schema may not be there yet.
        const [[row]] = await connection.query<RowDataPacket[]>(query).catch((error: { errno?: number }) => {
          if (error.errno === 1049 || error.errno === 1146) return [[]] as [RowDataPacket[]];
          throw error;
        });
        if (row?.["phase"] === "failed") throw new Error(`the migration failed: ${row["error"]}\n${await this.logEnd(0)}`);
        if (Number(row?.["reached"] ?? 0) === 1) return;
        await sleep(POLL);
      }
    } finally {
      connection.destroy();
    }
  }

  private spawnWorker(number: number): void {
    const { profile } = this.options;
    const flags = profile === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`];
    const worker = spawn(process.execPath, [...flags, CLI, "worker"], { env: { ...process.env, ...this.environment }, stdio: ["ignore", "ignore", "pipe"] });
    worker.stderr.pipe(createWriteStream(this.logFile(number)));
    process.once("exit", () => worker.kill("SIGKILL"));
    this.workers.push(worker);
  }

  private logFile(number: number): string {
    return join(this.folder, `worker-${number}.log`);
  }

  private async logEnd(number: number): Promise<string> {
    return (await readFile(this.logFile(number), "utf8")).trimEnd().split("\n").slice(-10).join("\n");
  }
}
