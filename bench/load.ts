/**
 * The follow's load: row changes in equal thirds of 1-, 10- and 1000-row transactions, half updates, a quarter each inserts and
 * deletes, over the four tables. Small transactions are single-row statements, as an application sends them; a large one is
 * four statements of many rows, as a batch job sends them.
 */
import type { Connection } from "mysql2/promise";
import type { MysqlServer } from "../scripts/servers/index.js";
import { connect } from "./connection.js";
import { rowsOfTable, SCHEMA, TABLES } from "./data.js";

const WRITERS = 4;
/** Single-row transactions per round trip: what is written is measured, not how. */
const PACKET = 50;
const SIZES = [1, 10, 1000] as const;

interface TableRows {
  name: string;
  /** Ids of rows that exist. */
  ids: number[];
  nextId: number;
}

export class LoadWriter {
  private readonly server: MysqlServer;
  /** Every writer has rows of its own, so that nobody waits for anybody. */
  private readonly parts: TableRows[][];

  constructor(server: MysqlServer, rows: number) {
    this.server = server;
    this.parts = Array.from({ length: WRITERS }, (_, writer) => TABLES.map((name, table) => {
      const count = rowsOfTable(rows, table);
      const ids = Array.from({ length: Math.ceil((count - writer) / WRITERS) }, (_unused, i) => writer + 1 + i * WRITERS).filter((id) => id <= count);
      return { name, ids, nextId: (Math.ceil(count / WRITERS) + 1) * WRITERS + writer + 1 };
    }));
  }

  /** @returns how many row changes were written */
  async write(changes: number): Promise<number> {
    const written = await Promise.all(this.parts.map((tables) => this.writePart(tables, changes / WRITERS)));
    return written.reduce((sum, count) => sum + count, 0);
  }

  private async writePart(tables: TableRows[], changes: number): Promise<number> {
    const transactions = shuffled(SIZES.flatMap((size) => Array.from({ length: Math.max(1, Math.round(changes / SIZES.length / size)) }, () => size)));
    const connection = await connect(this.server);
    let waiting: string[] = [];
    let count = 0;
    try {
      for (const size of transactions) {
        const table = tables[Math.floor(Math.random() * tables.length)] as TableRows;
        const statements = size === 1000 ? bulkStatements(table, size) : Array.from({ length: size }, () => rowStatement(table));
        waiting.push(size === 1 ? statements.join(";") : `BEGIN;${statements.join(";")};COMMIT`);
        count += size;
        if (waiting.length >= PACKET || size === 1000) waiting = await send(connection, waiting);
      }
      await send(connection, waiting);
    } finally {
      await connection.end();
    }
    return count;
  }
}

async function send(connection: Connection, statements: string[]): Promise<string[]> {
  if (statements.length > 0) await connection.query(statements.join(";"));
  return [];
}

function rowStatement(table: TableRows): string {
  const dice = Math.random();
  if (dice < 0.5) return `UPDATE ${SCHEMA}.${table.name} SET k=${number(1e6)}, c='${digits(10)}' WHERE id=${anyId(table)}`;
  if (dice < 0.75) return `INSERT INTO ${SCHEMA}.${table.name} VALUES ${newRow(table)}`;
  return `DELETE FROM ${SCHEMA}.${table.name} WHERE id=${takeId(table)}`;
}

function bulkStatements(table: TableRows, size: number): string[] {
  const updated = new Set<number>();
  while (updated.size < size / 2) updated.add(anyId(table));
  const inserted = Array.from({ length: size / 4 }, () => newRow(table));
  const deleted = Array.from({ length: size / 4 }, () => takeId(table));
  return [
    `UPDATE ${SCHEMA}.${table.name} SET k=k+1, c='${digits(10)}' WHERE id IN (${[...updated].join(",")})`,
    `INSERT INTO ${SCHEMA}.${table.name} VALUES ${inserted.join(",")}`,
    `DELETE FROM ${SCHEMA}.${table.name} WHERE id IN (${deleted.join(",")})`,
  ];
}

function newRow(table: TableRows): string {
  const id = table.nextId;
  table.nextId += WRITERS;
  table.ids.push(id);
  return `(${id},${number(1e6)},'${digits(10)}','${digits(5)}')`;
}

function anyId(table: TableRows): number {
  return table.ids[number(table.ids.length)] as number;
}

function takeId(table: TableRows): number {
  const index = number(table.ids.length);
  const id = table.ids[index] as number;
  table.ids[index] = table.ids.at(-1) as number;
  table.ids.pop();
  return id;
}

function digits(groups: number): string {
  return Array.from({ length: groups }, () => String(number(1e11)).padStart(11, "0")).join("-");
}

function number(limit: number): number {
  return Math.floor(Math.random() * limit);
}

function shuffled<T>(items: T[]): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = number(i + 1);
    [items[i], items[j]] = [items[j] as T, items[i] as T];
  }
  return items;
}
