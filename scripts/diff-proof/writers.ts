/** An application that changes rows at a steady rate: updates most of all, deletes, inserts, some rows much more often than others. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Connection } from "mysql2/promise";
import type { MysqlServer } from "../servers/index.js";
import { connect } from "./connect.js";
import { FULL_NAME } from "./ledger.js";

export interface WriterOptions {
  rows: number;
  /** Transactions a second, all writers together. */
  rate: number;
  /** Rows that nobody writes. */
  spare: ReadonlySet<number>;
  writers?: number;
}

/** Of the writes so many go to these first rows. */
const HOT = { rows: 50, share: 0.05 };

export class Writers implements AsyncDisposable {
  count = 0;
  private readonly options: WriterOptions;
  private readonly begun = performance.now();
  private ended: number | undefined;
  private running = true;
  private work: Promise<void>[] = [];
  private failure: unknown;

  private constructor(options: WriterOptions) {
    this.options = options;
  }

  static async start(server: MysqlServer, options: WriterOptions): Promise<Writers> {
    const writers = new Writers(options);
    const connections = await Promise.all(Array.from({ length: options.writers ?? 4 }, () => connect(server)));
    writers.work = connections.map((connection) => writers.write(connection, connections.length));
    return writers;
  }

  /** Transactions a second so far. */
  get perSecond(): number {
    return this.count / (((this.ended ?? performance.now()) - this.begun) / 1000);
  }

  /** @throws what a writer failed with */
  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.work);
    this.ended ??= performance.now();
    if (this.failure !== undefined) throw new Error("the application could not write", { cause: this.failure });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.running = false;
    await Promise.all(this.work);
  }

  private async write(connection: Connection, writers: number): Promise<void> {
    const pause = (1000 * writers) / this.options.rate;
    try {
      for (let due = performance.now(); this.running; due += pause) {
        const early = due - performance.now();
        if (early > 1) await sleep(early);
        // Far behind: the server cannot do more, and the writes of the past need not be made up for.
        else if (early < -1_000) due = performance.now();
        // The writers meet each other now and then: one is chosen to give way.
        await connection.query(this.statement()).then(() => (this.count += 1), givenWay);
      }
    } catch (error) {
      this.failure = error;
    } finally {
      await connection.end().catch(() => undefined);
    }
  }

  private statement(): string {
    const id = this.id();
    const now = this.count;
    const kind = Math.random();
    if (kind < 0.1) return `DELETE FROM ${FULL_NAME} WHERE id=${id}`;
    if (kind < 0.25) return `INSERT INTO ${FULL_NAME} VALUES (${id}, 'again', 'Again', ${now}, ${now}.25, ${now}e-3, '{"again": ${now}}', NOW()) ON DUPLICATE KEY UPDATE v='again', n=${now}`;
    return `UPDATE ${FULL_NAME} SET n=n+1, v=CONCAT('v', ${now}), f=f+0.5, j=JSON_SET(j, '$.k', ${now}) WHERE id=${id}`;
  }

  private id(): number {
    const { rows, spare } = this.options;
    for (;;) {
      const id = 1 + Math.floor(Math.random() * (Math.random() < HOT.share ? Math.min(HOT.rows, rows) : rows));
      if (!spare.has(id)) return id;
    }
  }
}

function givenWay(error: Error & { errno?: number }): void {
  if (error.errno !== 1213 && error.errno !== 1205) throw error;
}
