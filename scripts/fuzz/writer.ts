/** One connection of the application: random transactions and DDL, round by round. */
import { setTimeout as sleep } from "node:timers/promises";
import mysql, { type Connection } from "mysql2/promise";
import { readCatalog } from "./catalog.js";
import type { Dice } from "./dice.js";
import { randomDdl, referable } from "./random-ddl.js";
import { randomTable } from "./random-table.js";
import { fill, randomTransaction } from "./random-transaction.js";
import type { SeedLog } from "./seed-log.js";

export interface WriterOptions {
  /** Stands in the log. */
  name: string;
  url: string;
  schema: string;
  dice: Dice;
  log: SeedLog;
  /** Tables may be without a key. */
  noKey: boolean;
  /** Percent of rounds with DDL. */
  ddl: number;
}

/** A lock that another writer did not give up in time: an application tries again, here the next round comes. */
const LOCK_WAIT = 1205;

export class Writer implements Disposable {
  statements = 0;
  /** Statements that the source refused. */
  refused = 0;
  transactions = 0;
  ddl = 0;

  private constructor(private readonly options: WriterOptions, private readonly db: Connection) {}

  /** Makes the schema where it is not there. */
  static async open(options: WriterOptions): Promise<Writer> {
    const db = await mysql.createConnection({ uri: options.url, charset: "utf8mb4", supportBigNumbers: true, multipleStatements: true });
    db.on("error", () => undefined);
    for (const statement of [`CREATE DATABASE IF NOT EXISTS ${options.schema}`, `USE ${options.schema}`, "SET SESSION sql_mode='', cte_max_recursion_depth=100000, lock_wait_timeout=60"]) await db.query(statement);
    return new Writer(options, db);
  }

  /** The tables to begin with, and their rows; at least one. */
  async begin(): Promise<void> {
    const { dice, schema, noKey } = this.options;
    for (const name of ["t0", "t1", "t2", "_x"].slice(0, 2 + dice.below(3))) await this.run(randomTable(dice, name, { noKey, parents: referable(await readCatalog(this.db, schema)) }));
    for (const table of await readCatalog(this.db, schema)) for (const statement of fill(dice, table)) await this.run(statement);
    // A migration of nothing cannot begin.
    if ((await readCatalog(this.db, schema)).length === 0) await this.run("CREATE TABLE t0 (id INT PRIMARY KEY, c0 INT)");
  }

  async round(): Promise<void> {
    const { dice, schema, noKey } = this.options;
    const tables = await readCatalog(this.db, schema);
    for (let i = dice.below(5); i > 0; i--) {
      for (const statement of randomTransaction(dice, tables)) await this.run(statement);
      this.transactions += 1;
    }
    if (dice.percent(this.options.ddl)) {
      const statements = randomDdl(dice, tables, noKey);
      for (const statement of dice.percent(15) ? [statements.join(";\n")] : statements) await this.run(statement);
      this.ddl += 1;
    }
    if (dice.percent(30)) await sleep(dice.below(500));
  }

  /** Refusals are of no interest: what counts is what gets into the binlog. */
  private async run(statement: string): Promise<void> {
    const { log, name } = this.options;
    this.statements += 1;
    const failure = await this.db.query(statement).then(() => null, (error: unknown) => error as { errno?: number; message: string; fatal?: boolean });
    log.statement(name, statement, failure);
    if (failure === null) return;
    this.refused += 1;
    if (failure.fatal === true) throw new Error(`the source: ${failure.message}`);
    if (failure.errno === LOCK_WAIT) await this.db.query("ROLLBACK").catch(() => undefined);
  }

  [Symbol.dispose](): void {
    this.db.destroy();
  }
}
