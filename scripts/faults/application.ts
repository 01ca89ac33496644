/**
 * The application on the source: data to copy, and writers that do what is hard to follow: unique values that move
 * between rows, key changes, deletes and re-inserts of the same key, transactions over two tables, DDL.
 */
import { setTimeout as sleep } from "node:timers/promises";
import mysql, { type Connection, type RowDataPacket } from "mysql2/promise";
import type { Random } from "./random.js";

export const TABLES = ["account", "ledger", "note", "shape"] as const;

const DEFINITIONS: Record<(typeof TABLES)[number], string> = {
  account: "id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, email VARCHAR(60) NOT NULL, balance DECIMAL(12,2) NOT NULL, state ENUM('new','open','closed') NOT NULL, UNIQUE KEY (email), KEY (state)",
  ledger: "account INT NOT NULL, entry INT NOT NULL, amount DECIMAL(12,2) NOT NULL, memo VARCHAR(80), at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), PRIMARY KEY (account, entry), KEY (at)",
  note: "code VARCHAR(20) NOT NULL PRIMARY KEY, body TEXT, extra JSON",
  shape: "id BIGINT UNSIGNED NOT NULL PRIMARY KEY, payload VARBINARY(200), size DOUBLE, slot INT, UNIQUE KEY (slot)",
};

export interface ApplicationOptions {
  url: string;
  schema: string;
  rows: number;
  random: Random;
  /** Writers side by side. */
  writers: number;
  /** ALTER a table now and then. */
  ddl: boolean;
}

export class Application {
  private running = true;
  private loops: Promise<void>[] = [];
  transactions = 0;

  constructor(private readonly options: ApplicationOptions) {}

  async load(): Promise<void> {
    const { schema, rows } = this.options;
    const connection = await mysql.createConnection({ uri: this.options.url, multipleStatements: true });
    const n = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<${rows})`;
    await connection.query(`CREATE DATABASE ${schema}; USE ${schema}; SET SESSION cte_max_recursion_depth=100000000`);
    for (const table of TABLES) await connection.query(`CREATE TABLE ${table} (${DEFINITIONS[table]}) DEFAULT CHARACTER SET utf8mb4`);
    await connection.query(`INSERT INTO account (email, balance, state) ${n} SELECT CONCAT('user', i, '@example.org'), i/7, 1 + i%3 FROM n;
      INSERT INTO ledger (account, entry, amount, memo) ${n} SELECT i % 500, i, i/3, REPEAT('m', i % 60) FROM n;
      INSERT INTO note (code, body, extra) ${n} SELECT CONCAT('Note-', i), REPEAT('Text ', i % 50), JSON_OBJECT('n', i, 'half', i/2e0) FROM n;
      INSERT INTO shape (id, payload, size, slot) ${n} SELECT CAST(9223372036854775000 AS UNSIGNED) + i, RANDOM_BYTES(100), i/11, i FROM n`);
    // Statistics that are not of an empty table; as on a server that has lived.
    await connection.query(`ANALYZE TABLE ${TABLES.join(", ")}`);
    await connection.end();
  }

  start(): void {
    for (let i = 0; i < this.options.writers; i++) this.loops.push(this.write());
    if (this.options.ddl) this.loops.push(this.alter());
  }

  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.loops);
  }

  private async write(): Promise<void> {
    let connection: Connection | null = null;
    while (this.running) {
      try {
        connection ??= await this.connect();
        await this.transaction(connection);
        this.transactions += 1;
      } catch {
        // Deadlocks among the writers, a server that is away: an application tries again.
        connection?.destroy();
        connection = null;
        await sleep(100);
      }
      await sleep(2);
    }
    connection?.destroy();
  }

  private async transaction(db: Connection): Promise<void> {
    const { random, rows } = this.options;
    const pick = () => 1 + random.below(rows);
    const kind = random.below(10);
    await db.beginTransaction();
    if (kind < 3) await db.query("UPDATE account SET balance=balance+? WHERE id=?", [random.below(100), pick()]);
    else if (kind === 3) await this.swapSlots(db, pick(), pick());
    else if (kind === 4) await db.query("UPDATE note SET code=CONCAT(IF(BINARY LEFT(code,1)='N','n','N'), SUBSTRING(code,2)) WHERE code=?", [`Note-${pick()}`]);
    else if (kind === 5) await db.query("UPDATE IGNORE ledger SET entry=? WHERE account=? AND entry=?", [rows * 2 + pick(), pick() % 500, pick()]);
    else if (kind === 6) await this.replaceAccount(db, pick());
    else if (kind === 7) await db.query("DELETE FROM note WHERE code=?", [`Note-${pick()}`]);
    else if (kind === 8) await db.query("INSERT INTO note (code, body, extra) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE body=VALUES(body)", [`Note-${pick()}`, "again", JSON.stringify({ n: pick() })]);
    else await db.query("INSERT INTO ledger (account, entry, amount, memo) SELECT id % 500, id + ?, balance, email FROM account WHERE id BETWEEN ? AND ? ON DUPLICATE KEY UPDATE amount=amount+1", [rows * 4, ...range(pick(), 20)]);
    await db.commit();
  }

  /** Two rows exchange a unique value by way of NULL, in one transaction. */
  private async swapSlots(db: Connection, a: number, b: number): Promise<void> {
    const base = 9223372036854775000n;
    const ids = [base + BigInt(a), base + BigInt(b)].map(String);
    const [rows] = await db.query<RowDataPacket[]>("SELECT CAST(id AS CHAR) AS id, slot FROM shape WHERE id IN (?, ?) ORDER BY id FOR UPDATE", ids);
    const [first, second] = rows;
    if (!first || !second) return;
    await db.query("UPDATE shape SET slot=NULL WHERE id=?", [first["id"]]);
    await db.query("UPDATE shape SET slot=? WHERE id=?", [first["slot"], second["id"]]);
    await db.query("UPDATE shape SET slot=? WHERE id=?", [second["slot"], first["id"]]);
  }

  /** The unique e-mail goes to a new row; the old one takes another. */
  private async replaceAccount(db: Connection, id: number): Promise<void> {
    const [[row]] = (await db.query("SELECT email FROM account WHERE id=? FOR UPDATE", [id])) as unknown as [{ email: string }[]];
    if (!row) return;
    await db.query("DELETE FROM account WHERE id=?", [id]);
    await db.query("INSERT INTO account (email, balance, state) VALUES (?, 1, 'open')", [row.email]);
  }

  /** Adds a column and drops it again. The pauses grow: a table that starts over at each of them is copied in the end, however slow the machine is. */
  private async alter(): Promise<void> {
    let added = false;
    for (let wait = 1_500; this.running; wait *= 2) {
      for (let slept = 0; slept < wait && this.running; slept += 100) await sleep(100);
      if (!this.running) return;
      const connection = await this.connect().catch(() => null);
      if (!connection) continue;
      await connection.query(added ? "ALTER TABLE note DROP COLUMN added" : "ALTER TABLE note ADD COLUMN added INT DEFAULT 7").then(() => (added = !added), () => undefined);
      connection.destroy();
    }
  }

  private async connect(): Promise<Connection> {
    const connection = await mysql.createConnection({ uri: this.options.url, database: this.options.schema, connectTimeout: 2_000, supportBigNumbers: true, bigNumberStrings: true });
    connection.on("error", () => undefined);
    return connection;
  }
}

function range(from: number, length: number): [number, number] {
  return [from, from + length];
}
