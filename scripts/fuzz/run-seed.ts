/** One seed: random tables, a migration of them, random transactions and DDL while it copies and follows; at the end both sides must be equal. */
import { setTimeout as sleep } from "node:timers/promises";
import mysql, { type Connection } from "mysql2/promise";
import { DroverClient, type MigrationSpecInput, type MigrationStatus } from "../../src/producers/index.js";
import type { Config } from "../../src/shared/config.js";
import { readCatalog } from "./catalog.js";
import { compareSides } from "./compare.js";
import { Dice } from "./dice.js";
import { isAside, randomDdl } from "./random-ddl.js";
import { randomTable } from "./random-table.js";
import { fill, randomTransaction } from "./random-transaction.js";
import type { SeedLog } from "./seed-log.js";

export interface SeedOptions {
  seed: number;
  /** Names of the seed's schemas and its migration begin with it; a to z, digits, `_`. */
  name: string;
  /** Administrators' URLs. */
  sourceUrl: string;
  targetUrl: string;
  /** Of the workers: connections SRC and DST. */
  config: Config;
  log: SeedLog;
  /** Rounds of writes. */
  steps: number;
}

export interface SeedReport {
  seed: number;
  /** What is wrong; null when both sides are equal and the diff is clean. */
  problem: string | null;
  seconds: number;
  statements: number;
  /** Statements that the source refused. */
  refused: number;
  ddl: number;
}

/** For everything to be applied, with workers that have died meanwhile (milliseconds). */
const PATIENCE = 200_000;

export async function runSeed(options: SeedOptions): Promise<SeedReport> {
  const begin = Date.now();
  await using run = new SeedRun(options);
  let problem: string | null;
  try {
    problem = await run.go();
  } catch (error) {
    problem = `${error instanceof Error ? error.message : String(error)}${await run.where()}`;
  }
  options.log.note(problem ?? "equal");
  return { seed: options.seed, problem, seconds: Math.round((Date.now() - begin) / 100) / 10, statements: run.statements, refused: run.refused, ddl: run.ddl };
}

class SeedRun implements AsyncDisposable {
  private readonly options: SeedOptions;
  private readonly dice: Dice;
  private readonly client: DroverClient;
  private readonly schema: string;
  private readonly targetSchema: string;
  /** Tables whose names begin with `_` are left out. */
  private readonly aside: boolean;
  private db: Connection | null = null;
  private started = false;
  statements = 0;
  refused = 0;
  ddl = 0;

  constructor(options: SeedOptions) {
    this.options = options;
    this.dice = new Dice(options.seed);
    this.client = new DroverClient({ config: options.config });
    this.schema = options.name;
    this.targetSchema = this.dice.percent(25) ? `${options.name}_t` : options.name;
    this.aside = this.dice.percent(50);
  }

  async go(): Promise<string | null> {
    const { dice } = this;
    this.db = await mysql.createConnection({ uri: this.options.sourceUrl, charset: "utf8mb4", supportBigNumbers: true });
    this.db.on("error", () => undefined);
    for (const statement of [`CREATE DATABASE ${this.schema}`, `USE ${this.schema}`, "SET SESSION sql_mode='', cte_max_recursion_depth=100000, lock_wait_timeout=60"]) await this.db.query(statement);
    for (const name of ["t0", "t1", "t2", "_x"].slice(0, 2 + dice.below(3))) await this.run(randomTable(dice, name));
    for (const table of await readCatalog(this.db, this.schema)) for (const statement of fill(dice, table)) await this.run(statement);
    // A migration of nothing cannot begin.
    if ((await readCatalog(this.db, this.schema)).length === 0) await this.run("CREATE TABLE t0 (id INT PRIMARY KEY, c0 INT)");
    const spec = this.spec();
    // Until there is a worker.
    while (!(await this.client.startMigration(spec, { timeout: 60_000 })).accepted) await sleep(200);
    this.started = true;
    for (let step = 0; step < this.options.steps; step++) await this.step();
    return await this.verdict();
  }

  /** How far it came. */
  async where(): Promise<string> {
    if (!this.started) return "";
    const status = await this.client.status(this.options.name).catch((error: unknown) => error);
    if (status instanceof Error) return `\nno status: ${status.message}`;
    const { phase, tables, backlog, error } = status as MigrationStatus;
    return `\n${JSON.stringify({ phase, tables: tables.map((t) => `${t.source} ${t.phase} ${t.chunksDone}/${t.chunksTotal}`), backlog, error })}`;
  }

  private spec(): MigrationSpecInput {
    const { dice } = this;
    return {
      id: this.options.name, source: "SRC", target: "DST",
      tables: [{ schema: this.schema, targetSchema: this.targetSchema, ...(this.aside ? { exclude: ["_*"] } : {}) }],
      options: {
        chunkRows: dice.pick([10, 25, 60]), copyConcurrency: 2 + dice.below(3),
        batchRows: dice.pick([10, 40, 300]), batchBytes: dice.pick(["2KiB", "64KiB", "8MiB"]), batchTime: dice.pick(["5ms", "100ms"]), backlogBytes: dice.pick(["8KiB", "64KiB", "256MiB"]),
      },
    };
  }

  private async step(): Promise<void> {
    const { dice, db } = this;
    if (db === null) return;
    const tables = await readCatalog(db, this.schema);
    for (let i = dice.below(5); i > 0; i--) for (const statement of randomTransaction(dice, tables)) await this.run(statement);
    if (dice.percent(45)) {
      for (const statement of randomDdl(dice, tables)) await this.run(statement);
      this.ddl += 1;
    }
    if (dice.percent(30)) await sleep(dice.below(500));
    if (dice.percent(2)) await this.pauseAndResume();
  }

  /** Refusals are of no interest: what counts is what gets into the binlog. */
  private async run(statement: string): Promise<void> {
    this.statements += 1;
    const failure = await this.db?.query(statement).then(() => null, (error: unknown) => error as { errno?: number; message: string; fatal?: boolean });
    this.options.log.statement(statement, failure ?? null);
    if (failure == null) return;
    this.refused += 1;
    // The source was lost, or somebody waited a minute for a lock.
    if (failure.fatal === true || failure.errno === 1205) throw new Error(`the source: ${failure.message}`);
  }

  private async pauseAndResume(): Promise<void> {
    this.options.log.note("pause");
    await this.client.pause(this.options.name, { timeout: 60_000 });
    await sleep(this.dice.below(1_000));
    await this.client.resume(this.options.name, { timeout: 60_000 });
  }

  private async verdict(): Promise<string | null> {
    const id = this.options.name;
    await this.client.waitFor(id, "caught-up", { timeout: PATIENCE });
    // A statement may have had tables copied anew.
    for (const end = Date.now() + PATIENCE; (await this.client.status(id)).phase !== "streaming"; await sleep(100)) if (Date.now() > end) return `still ${(await this.client.status(id)).phase}`;
    await this.client.waitFor(id, "caught-up", { timeout: PATIENCE });
    const { sourceUrl, targetUrl } = this.options;
    const differences = await compareSides({ sourceUrl, targetUrl, schema: this.schema, targetSchema: this.targetSchema, optional: (table) => this.aside && isAside(table) });
    if (differences.length > 0) return differences.join("; ");
    if ((await this.client.status(id)).tables.length === 0) return null;
    const { diffId } = await this.client.startDiff(id, {}, { timeout: 60_000 });
    const report = await this.client.waitForDiff(id, diffId, { timeout: PATIENCE });
    const inconclusive = report.tables.reduce((sum, table) => sum + table.inconclusive, 0);
    return report.hasMismatch || inconclusive > 0 ? `both sides are equal, and the diff says otherwise: ${JSON.stringify(report.tables)}` : null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { name, log, sourceUrl, targetUrl } = this.options;
    try {
      if (this.started) {
        await this.client.stop(name, { timeout: 60_000 }).catch((error: unknown) => log.note(`stop: ${String(error)}`));
        await this.client.remove(name, { timeout: 60_000 }).catch((error: unknown) => log.note(`remove: ${String(error)}`));
      }
    } finally {
      this.db?.destroy();
      await this.client.close();
      for (const url of [sourceUrl, targetUrl]) await dropSchemas(url, [this.schema, `${this.schema}_t`]).catch((error: unknown) => log.note(String(error)));
    }
  }
}

async function dropSchemas(url: string, schemas: readonly string[]): Promise<void> {
  const db = await mysql.createConnection(url);
  try {
    for (const schema of schemas) await db.query(`DROP DATABASE IF EXISTS ${schema}`);
  } finally {
    db.destroy();
  }
}
