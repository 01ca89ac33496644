/** A migration of a schema under DDL: start it, alter the source, wait until it has caught up, compare both servers. */
import { setTimeout as sleep } from "node:timers/promises";
import { DroverClient, type MigrationSpecInput } from "../../src/producers/index.js";
import { loadConfig } from "../../src/shared/config.js";
import { createLogger } from "../../src/shared/logger.js";
import type { QueueName } from "../../src/shared/queues.js";
import { DroverError } from "../../src/shared/errors.js";
import type { HookPoint, Hooks } from "../../src/workers/hooks.js";
import { runWorker, type RunningWorker } from "../../src/workers/index.js";
import { testContext, type TestContext } from "../support/context.js";

export interface SceneOptions {
  /** Beside `*` of the test's schema. */
  tables?: (schema: string) => MigrationSpecInput["tables"];
  options?: MigrationSpecInput["options"];
  mode?: MigrationSpecInput["mode"];
  hooks?: Hooks;
  /** Of the first worker; default: all. */
  queues?: QueueName[];
  /** SQL on the source before the migration begins, in the test's schema. */
  before?: string;
  /** SQL on the target, in a schema of the same name, which is made then. */
  beforeTarget?: string;
}

export class DdlScene implements AsyncDisposable {
  readonly ctx: TestContext;
  readonly client: DroverClient;
  private worker: RunningWorker | null = null;

  private constructor(ctx: TestContext) {
    this.ctx = ctx;
    this.client = new DroverClient({ config: loadConfig(ctx.env) });
  }

  static async start(settings: SceneOptions = {}): Promise<DdlScene> {
    const ctx = await testContext({ allowedKey: () => true });
    const scene = new DdlScene(ctx);
    try {
      await ctx.source.query(`USE ${ctx.schema}; ${settings.before ?? "SELECT 1"}`);
      if (settings.beforeTarget !== undefined) await ctx.target.query(`CREATE DATABASE ${ctx.schema}; USE ${ctx.schema}; ${settings.beforeTarget}`);
      await scene.startWorker(settings.hooks, settings.queues);
      await scene.client.startMigration({ id: "m", source: "SRC", target: "DST", mode: settings.mode, tables: settings.tables?.(ctx.schema) ?? [{ schema: ctx.schema }], options: settings.options ?? {} });
      return scene;
    } catch (error) {
      await scene[Symbol.asyncDispose]();
      throw error;
    }
  }

  /**
   * A migration of mode `follow`: the target is filled by hand with what the source has before `backlog`, and follows from there.
   * @param settings.checked the preflight must find nothing that blocks
   */
  static async follow(settings: { before: string; backlog: string; checked?: boolean }): Promise<DdlScene> {
    const ctx = await testContext({ allowedKey: () => true });
    const scene = new DdlScene(ctx);
    try {
      await ctx.source.query(`USE ${ctx.schema}; ${settings.before}`);
      await ctx.target.query(`CREATE DATABASE ${ctx.schema}; USE ${ctx.schema}; ${settings.before}`);
      const [row] = await ctx.source.query("SELECT @@GLOBAL.gtid_executed AS position");
      await ctx.source.query(settings.backlog);
      await scene.startWorker();
      await scene.client.startMigration(
        { id: "m", source: "SRC", target: "DST", mode: "follow", startPosition: String(row?.["position"]).replaceAll("\n", ""), tables: [{ schema: ctx.schema }] },
        { preflight: settings.checked === true },
      );
      return scene;
    } catch (error) {
      await scene[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Statements on the source, in the test's schema. */
  async source(sql: string): Promise<void> {
    await this.ctx.source.query(sql);
  }

  async target<T>(sql: string): Promise<T[]> {
    return (await this.ctx.target.query(sql)) as unknown as T[];
  }

  async streaming(): Promise<void> {
    await this.client.waitFor("m", "streaming", { timeout: 60_000 });
  }

  async startWorker(hooks?: Hooks, queues?: QueueName[]): Promise<void> {
    const log = createLogger(process.env["DROVER_LOG_LEVEL"] ?? "silent");
    this.worker = await runWorker({ config: loadConfig(this.ctx.env), log, ...(hooks ? { hooks } : {}), ...(queues ? { queues } : {}) });
  }

  async stopWorker(): Promise<void> {
    await this.worker?.close();
    this.worker = null;
  }

  /** Waits until everything committed so far is applied and all tables are copied. */
  async caughtUp(): Promise<void> {
    await this.client.waitFor("m", "caught-up", { timeout: 60_000 });
    for (let i = 0; ; i++) {
      const { phase, error } = await this.client.status("m");
      if (phase === "streaming") break;
      if (phase === "failed" || i > 600) throw new Error(`the migration is ${phase}: ${error?.message}`);
      await sleep(100);
    }
    await this.client.waitFor("m", "caught-up", { timeout: 60_000 });
  }

  /** What differs between both servers' tables of a schema, in shapes or rows, when all is applied; nothing when all is well. */
  async differences(options: ComparedTables = {}): Promise<string[]> {
    await this.caughtUp();
    const from = options.source ?? this.ctx.schema;
    const to = options.target ?? from;
    const wanted = (name: string) => (options.only?.includes(name) ?? true) && !(options.ignore?.includes(name) ?? false);
    const source = (await this.names("source", from)).filter(wanted);
    const target = (await this.names("target", to)).filter((name) => !options.targetIgnore?.includes(name));
    const place = (name: string) => options.rename?.[name] ?? name;
    const differences = target.filter((name) => !source.some((other) => place(other) === name)).map((name) => `${name} is on the target only`);
    for (const name of source) {
      if (!target.includes(place(name))) {
        if (!(options.optional?.(name) ?? false)) differences.push(`${name} is not on the target`);
      } else differences.push(...contentDifferences(name, await this.content("source", from, name), await this.content("target", to, place(name))));
    }
    return differences;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopWorker();
    await this.client.close();
    await this.ctx[Symbol.asyncDispose]();
  }

  private async names(side: "source" | "target", schema: string): Promise<string[]> {
    const rows = await this.ctx[side].query(`SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA=? AND TABLE_TYPE='BASE TABLE' ORDER BY 1`, [schema]);
    return rows.map((row) => String(row["name"]));
  }

  private async content(side: "source" | "target", schema: string, table: string): Promise<Content> {
    const name = `\`${schema}\`.\`${table.replaceAll("`", "``")}\``;
    const [create] = await this.ctx[side].query(`SHOW CREATE TABLE ${name}`);
    const rows = await this.ctx[side].query(`SET time_zone='+00:00'; SELECT * FROM ${name}`);
    const list = (rows as unknown as [unknown, object[]])[1].map((row) => JSON.stringify(row)).sort();
    // The table's name may be mapped; whether a default collation is named depends on how the column was made.
    const shape = String(create?.["Create Table"]).replace(/^CREATE TABLE `(?:[^`]|``)*`/, "").replace(/ AUTO_INCREMENT=\d+/, "");
    return { shape: shape.replaceAll(/(CHARACTER SET latin1) COLLATE latin1_swedish_ci|(CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_ai_ci/g, "$1$2"), rows: list };
  }
}

export interface ComparedTables {
  /** Schemas; default: the test's. */
  source?: string;
  target?: string;
  /** Names on the target, where they are others. */
  rename?: Record<string, string>;
  /** Tables of the source. */
  only?: string[];
  ignore?: string[];
  targetIgnore?: string[];
  /** Tables of the source that need not be on the target. */
  optional?: (name: string) => boolean;
}

interface Content {
  shape: string;
  rows: string[];
}

function contentDifferences(name: string, source: Content, target: Content): string[] {
  const differences = source.shape === target.shape ? [] : [`${name} is\n${source.shape}\non the target\n${target.shape}`];
  const missing = source.rows.filter((row) => !target.rows.includes(row)).slice(0, 5);
  const extra = target.rows.filter((row) => !source.rows.includes(row)).slice(0, 5);
  if (missing.length + extra.length > 0 || source.rows.length !== target.rows.length)
    differences.push(`${name} has ${source.rows.length} rows, on the target ${target.rows.length}; missing ${missing.join(" ")}; extra ${extra.join(" ")}`);
  return differences;
}

/** Writes to the source until it is told to stop; errors of statements that meet DDL are of no interest. */
export class Writers {
  private running = true;
  private readonly done: Promise<unknown>;
  count = 0;

  constructor(scene: DdlScene, statements: ((i: number) => string)[], pause = 5) {
    this.done = Promise.all(
      statements.map(async (statement) => {
        const connection = await scene.ctx.source.connect({ database: scene.ctx.schema });
        for (let i = 0; this.running; i++) {
          await connection.query(statement(i)).catch(() => undefined);
          this.count += 1;
          await sleep(pause);
        }
      }),
    );
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.done;
  }
}


/** Rows 1 to `count` of a table with the columns `id` and `v`. */
export function numbered(table: string, count: number): string {
  return `SET SESSION cte_max_recursion_depth=1000000; INSERT INTO ${table} (id, v) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<${count}) SELECT i, CONCAT('v', i) FROM n`;
}

/** Hooks that hold chunk reads back while it is closed, and fail at chosen points. */
export class Gate implements Hooks {
  /** Points that throw, and how often yet. */
  readonly failures = new Map<string, number>();
  /** A point that throws every other time it is reached. */
  alternating: HookPoint | null = null;
  /** How often that has thrown. */
  crashes = 0;
  private turn = false;
  reached = 0;
  private open: Promise<void> = Promise.resolve();
  private release: () => void = () => undefined;

  close(): void {
    this.open = new Promise((resolve) => (this.release = resolve));
  }

  pass(): void {
    this.release();
  }

  async at(point: HookPoint): Promise<void> {
    if (point === "chunk:before-read") {
      this.reached += 1;
      await this.open;
    }
    if (point === this.alternating && (this.turn = !this.turn)) {
      this.crashes += 1;
      throw new DroverError("SERVER_BUSY", `planted at ${point}`);
    }
    const left = this.failures.get(point) ?? 0;
    if (left === 0) return;
    this.failures.set(point, left - 1);
    throw new DroverError("SERVER_BUSY", `planted at ${point}`);
  }

  /** Waits until chunk reads stand before the gate. */
  async waiting(): Promise<void> {
    for (let i = 0; this.reached === 0; i++) {
      if (i > 400) throw new Error("no chunk is read");
      await sleep(50);
    }
  }
}
