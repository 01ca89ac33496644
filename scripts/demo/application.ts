/** The shop's application: writers that keep changing the source until they are told to end, at a steady pace. */
import { setTimeout as sleep } from "node:timers/promises";

import { createConnection } from "mysql2/promise";
import type { Connection, ResultSetHeader } from "mysql2/promise";

import { randomTransaction, type Transaction } from "./transactions.js";

export interface ApplicationOptions {
  url: string;
  /** All writers together. */
  transactionsPerSecond: number;
  writers?: number;
}

export interface ApplicationFigures {
  transactions: number;
  rowsChanged: number;
  /** Transactions by their name. */
  byName: Record<string, number>;
  /** How often a deadlock or a lock wait made a writer start its transaction over: the writers' own, they meet each other. */
  retries: number;
  /** The longest that any transaction took, in milliseconds: what the application felt of the migration. */
  slowestMs: number;
  seconds: number;
}

/** The server chose this transaction as the victim of a deadlock, or a lock did not come in time. */
const START_OVER = new Set([1205, 1213]);

export class Application implements AsyncDisposable {
  readonly #options: Required<ApplicationOptions>;
  readonly #figures = { transactions: 0, rowsChanged: 0, byName: {} as Record<string, number>, retries: 0, slowestMs: 0 };
  readonly #stop = new AbortController();
  readonly #startedAt = performance.now();
  #endedAt: number | undefined;
  #writers: Promise<void>[] = [];
  #failure: unknown;

  private constructor(options: ApplicationOptions) {
    this.#options = { writers: 4, ...options };
  }

  static async start(options: ApplicationOptions): Promise<Application> {
    const application = new Application(options);
    const { url, writers } = application.#options;
    const opened = await Promise.allSettled(Array.from({ length: writers }, () => createConnection({ uri: url, multipleStatements: true, charset: "utf8mb4" })));
    const failed = opened.find((result) => result.status === "rejected");
    const connections = opened.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    if (failed !== undefined) {
      for (const connection of connections) connection.destroy();
      throw failed.reason;
    }
    application.#writers = connections.map((connection) => application.#write(connection));
    return application;
  }

  get figures(): ApplicationFigures {
    return { ...this.#figures, byName: { ...this.#figures.byName }, seconds: ((this.#endedAt ?? performance.now()) - this.#startedAt) / 1000 };
  }

  /** Each writer ends with a whole transaction. @throws what a writer failed with */
  async stop(): Promise<ApplicationFigures> {
    this.#stop.abort();
    await Promise.all(this.#writers);
    this.#endedAt ??= performance.now();
    this.check();
    return this.figures;
  }

  /** @throws what a writer failed with, so that nobody waits for an application that is gone */
  check(): void {
    if (this.#failure !== undefined) throw new Error("the application cannot write", { cause: this.#failure });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#writers);
  }

  async #write(connection: Connection): Promise<void> {
    const pause = (1000 * this.#options.writers) / this.#options.transactionsPerSecond;
    try {
      for (let due = performance.now(); !this.#stop.signal.aborted; ) {
        await this.#run(connection, randomTransaction());
        due = Math.max(due + pause, performance.now() - 1000);
        const wait = due - performance.now();
        if (wait > 1) await sleep(wait, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      }
      await connection.end();
    } catch (error) {
      this.#failure ??= error;
      connection.destroy();
    }
  }

  async #run(connection: Connection, transaction: Transaction): Promise<void> {
    const startedAt = performance.now();
    for (;;) {
      try {
        // one text, one round trip: what is measured is the servers, not this process
        const [results] = await connection.query<ResultSetHeader[]>(`BEGIN; ${transaction.statements.join("; ")}; COMMIT`);
        this.#count(transaction, results, performance.now() - startedAt);
        return;
      } catch (error) {
        if (!START_OVER.has((error as { errno?: number }).errno ?? 0)) throw error;
        await connection.query("ROLLBACK");
        this.#figures.retries += 1;
      }
    }
  }

  #count(transaction: Transaction, results: ResultSetHeader[], milliseconds: number): void {
    const figures = this.#figures;
    figures.transactions += 1;
    figures.byName[transaction.name] = (figures.byName[transaction.name] ?? 0) + 1;
    figures.rowsChanged += results.reduce((sum, result) => sum + (result.affectedRows ?? 0), 0);
    figures.slowestMs = Math.max(figures.slowestMs, milliseconds);
  }
}
