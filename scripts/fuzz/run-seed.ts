/** One seed: random tables, a migration of them, random transactions and DDL while it copies and follows; at the end both sides must be equal. */
import { setTimeout as sleep } from "node:timers/promises";
import mysql, { type Connection, type RowDataPacket } from "mysql2/promise";
import { DroverClient, type MigrationSpecInput } from "../../src/producers/index.js";
import type { Config } from "../../src/shared/config.js";
import { DroverError } from "../../src/shared/errors.js";
import { positionCovers } from "../../src/shared/mysql/position.js";
import { tableNames } from "../faults/compare.js";
import { compareSides } from "./compare.js";
import { Dice } from "./dice.js";
import { Diffs } from "./diffs.js";
import { insist, untilSo } from "./patience.js";
import { isAside } from "./random-ddl.js";
import type { SeedLog } from "./seed-log.js";
import { Writer } from "./writer.js";

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
  /** Resolves when no server is away on purpose. */
  calm?: () => Promise<void>;
}

export interface SeedReport {
  seed: number;
  /** What is wrong; null when both sides are equal and the diff is clean. */
  problem: string | null;
  seconds: number;
  statements: number;
  /** Statements that the source refused. */
  refused: number;
  transactions: number;
  ddl: number;
  /** Pauses, restarts and diffs of the migration while it was written to. */
  commands: number;
}

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
  return { seed: options.seed, problem, seconds: Math.round((Date.now() - begin) / 100) / 10, ...run.counts() };
}

class SeedRun implements AsyncDisposable {
  private readonly options: SeedOptions;
  private readonly dice: Dice;
  private readonly client: DroverClient;
  private readonly diffs: Diffs;
  private readonly schema: string;
  private readonly targetSchema: string;
  /** Tables whose names begin with `_` are left out. */
  private readonly aside: boolean;
  /** Tables may be without a key. */
  private readonly noKey: boolean;
  private readonly writers: Writer[] = [];
  private spec: MigrationSpecInput | null = null;
  private commands = 0;

  constructor(options: SeedOptions) {
    this.options = options;
    this.dice = new Dice(options.seed);
    this.client = new DroverClient({ config: options.config });
    this.diffs = new Diffs(this.client, options.name, options.log);
    this.schema = options.name;
    this.targetSchema = this.dice.percent(25) ? `${options.name}_t` : options.name;
    this.aside = this.dice.percent(50);
    this.noKey = this.dice.percent(40);
  }

  async go(): Promise<string | null> {
    const { dice, noKey, schema, options: { seed, steps, sourceUrl: url, log } } = this;
    const first = await Writer.open({ name: "a", url, schema, dice, log, noKey, ddl: 45 });
    this.writers.push(first);
    await first.begin();
    await this.start("fail");
    // What two do at once cannot be done again the same; some seeds have one writer.
    if (dice.percent(40)) this.writers.push(await Writer.open({ name: "b", url, schema, dice: new Dice(seed + 1_000_000), log, noKey, ddl: 8 }));
    for (let step = 0; step < steps; step++) {
      if ((await this.foundNothing()) && (await this.hasTables())) await this.startAnew();
      const commands = dice.percent(5) ? [this.pauseAndResume()] : [];
      if (dice.percent(4)) commands.push(this.diffs.tryToStart());
      this.commands += commands.length;
      await Promise.all([...this.writers.map((writer) => writer.round()), ...commands]);
      if (dice.percent(1)) await this.startAnew();
    }
    return await this.verdict();
  }

  counts(): Pick<SeedReport, "statements" | "refused" | "transactions" | "ddl" | "commands"> {
    const sum = (of: (writer: Writer) => number) => this.writers.reduce((total, writer) => total + of(writer), 0);
    return { statements: sum((w) => w.statements), refused: sum((w) => w.refused), transactions: sum((w) => w.transactions), ddl: sum((w) => w.ddl), commands: this.commands };
  }

  /** How far it came. */
  async where(): Promise<string> {
    if (this.spec === null) return "";
    return await this.client.status(this.options.name).then(
      ({ phase, tables, backlog, error }) => `\n${JSON.stringify({ phase, tables: tables.map((t) => `${t.source} ${t.phase} ${t.chunksDone}/${t.chunksTotal}`), backlog, error })}`,
      (error: unknown) => `\nno status: ${String(error)}`,
    );
  }

  private async start(existingTarget: "fail" | "replace"): Promise<void> {
    const { dice } = this;
    const spec: MigrationSpecInput = {
      id: this.options.name, source: "SRC", target: "DST",
      tables: [{ schema: this.schema, targetSchema: this.targetSchema, ...(this.aside ? { exclude: ["_*"] } : {}) }],
      options: {
        chunkRows: dice.pick([10, 25, 60]), copyConcurrency: 2 + dice.below(3), existingTarget, allowNoKey: this.noKey,
        batchRows: dice.pick([10, 40, 300]), batchBytes: dice.pick(["2KiB", "64KiB", "8MiB"]), batchTime: dice.pick(["5ms", "100ms"]), backlogBytes: dice.pick(["8KiB", "64KiB", "256MiB"]),
      },
    };
    this.spec = spec;
    // Until there is a worker.
    while (!(await insist(() => this.client.startMigration(spec, { timeout: 60_000 }))).accepted) await sleep(200);
  }

  private async pauseAndResume(): Promise<void> {
    const { client, dice, options: { name, log } } = this;
    const nap = dice.below(1_000);
    log.note("pause");
    try {
      await insist(() => client.pause(name, { timeout: 20_000 }));
      await sleep(nap);
      await insist(() => client.resume(name, { timeout: 20_000 }));
    } catch (error) {
      if (!(await this.foundNothing())) throw error;
    }
    log.note("resumed");
  }

  /** The writers had dropped or renamed all its tables by the time it was planned, which ends a migration as it should. */
  private async foundNothing(): Promise<boolean> {
    const { phase, error } = await insist(() => this.client.status(this.options.name));
    return phase === "failed" && error?.code === "PREFLIGHT_FAILED" && error.message.includes("no base table");
  }

  /** The migration is stopped and removed, and begins once more on the target as it is. Nobody writes meanwhile. */
  private async startAnew(): Promise<void> {
    const { log } = this.options;
    log.note("stop, remove, start anew");
    this.commands += 1;
    await this.diffs.forget();
    await this.forget();
    await this.dropLeftovers();
    await this.start("replace");
  }

  private async forget(): Promise<void> {
    const { client, options: { name } } = this;
    await insist(() => client.stop(name, { timeout: 20_000 }));
    await insist(() => client.remove(name, { timeout: 20_000 })).catch((error: unknown) => {
      // The answer to an earlier try was lost.
      if (!(error instanceof DroverError && error.code === "NOT_FOUND")) throw error;
    });
  }

  /** Tables that the old migration had on the target and the new one will not have: somebody who begins anew sees to them. */
  private async dropLeftovers(): Promise<void> {
    const names = await this.onServer(this.options.sourceUrl, (db) => tableNames(db, this.schema));
    await this.onServer(this.options.targetUrl, async (db) => {
      await db.query("SET SESSION foreign_key_checks=0");
      const leftovers = (await tableNames(db, this.targetSchema)).filter((table) => !names.includes(table) || (this.aside && isAside(table)));
      for (const table of leftovers) await db.query(`DROP TABLE ${mysql.escapeId(this.targetSchema)}.${mysql.escapeId(table)}`);
    });
  }

  private async verdict(): Promise<string | null> {
    const { client, options: { name: id, sourceUrl, targetUrl } } = this;
    if (await this.foundNothing()) {
      if (!(await this.hasTables())) return null;
      await this.startAnew();
    }
    // Not the client's: a migration that is still being planned has none yet.
    const mark = await this.onServer(sourceUrl, async (db) => {
      const [rows] = await db.query<RowDataPacket[]>("SELECT @@GLOBAL.gtid_executed AS executed");
      return String(rows[0]?.["executed"]).replaceAll(/\s/g, "");
    });
    // A statement may have tables copied anew; it is not streaming then.
    await untilSo("streaming and caught up", async () => {
      const { phase, position, tables, error } = await client.status(id);
      if (phase === "failed" || phase === "stopped") throw new Error(`the migration is ${phase}: ${error?.message ?? "no reason is recorded"}`);
      return { so: phase === "streaming" && positionCovers(position.applied, mark), progress: [phase, position.applied, tables] };
    });
    const sides = { sourceUrl, targetUrl, schema: this.schema, targetSchema: this.targetSchema, optional: (table: string) => this.aside && isAside(table) };
    const differences = await this.throughOutages(() => compareSides(sides));
    if (differences.length > 0) return differences.join("; ");
    const before = await this.diffs.verdict();
    if (before !== null || (await insist(() => client.status(id))).tables.length === 0) return before;
    await this.diffs.start();
    return await this.diffs.verdict(true);
  }

  private async hasTables(): Promise<boolean> {
    const names = await this.onServer(this.options.sourceUrl, (db) => tableNames(db, this.schema));
    return names.some((table) => !this.aside || !isAside(table));
  }

  private async onServer<T>(url: string, work: (db: Connection) => Promise<T>): Promise<T> {
    return await this.throughOutages(async () => {
      const db = await mysql.createConnection(url);
      db.on("error", () => undefined);
      try {
        return await work(db);
      } finally {
        db.destroy();
      }
    });
  }

  /** Again while a server is away on purpose. */
  private async throughOutages<T>(work: () => Promise<T>): Promise<T> {
    for (let left = 5; ; left--) {
      await this.options.calm?.();
      try {
        return await work();
      } catch (error) {
        const lost = (error as { fatal?: boolean }).fatal === true || ["ECONNREFUSED", "ECONNRESET", "PROTOCOL_CONNECTION_LOST"].includes(String((error as { code?: string }).code));
        if (!lost || left === 0) throw error;
        await sleep(500);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { log, sourceUrl, targetUrl } = this.options;
    try {
      if (this.spec !== null) await this.forget().catch((error: unknown) => log.note(`at the end: ${String(error)}`));
    } finally {
      for (const writer of this.writers) writer[Symbol.dispose]();
      await this.client.close();
      for (const url of [sourceUrl, targetUrl])
        await this.onServer(url, async (db) => {
          for (const schema of [this.schema, `${this.schema}_t`]) await db.query(`DROP DATABASE IF EXISTS ${schema}`);
        }).catch((error: unknown) => log.note(String(error)));
    }
  }
}
