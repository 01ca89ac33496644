/** Follows the binlog in a test and keeps what came, for the tables that the test names. */
import { rowCells } from "../../src/shared/columns/text-row.js";
import type { BinlogHandler, BinlogStatement, BinlogTable, RowSink } from "../../src/workers/binlog/events.js";
import { openBinlogStream, type BinlogStream, type BinlogStreamOptions } from "../../src/workers/binlog/stream.js";

export interface RecordedRow {
  table: string;
  beforeKey: string | null;
  afterKey: string | null;
  /** The after image's cells as latin1 text. */
  cells: (string | null)[] | null;
}

export interface RecordedTransaction {
  gtid: string;
  committedAt: number;
  rows: RecordedRow[];
  statements: BinlogStatement[];
}

export interface Server {
  host: string;
  port: number;
  user: string;
  password: string;
}

export interface RecorderOptions {
  server: Server;
  position: string;
  /** How the table is wanted; default: all columns, the first one the key, for tables whose schema begins with `schema`. */
  schema?: string;
  want?: (table: BinlogTable) => Omit<RowSink, "row"> | null;
  onRow?: (row: RecordedRow) => void;
  onCommit?: (transaction: RecordedTransaction) => void;
  stream?: Partial<BinlogStreamOptions>;
}

let nextServerId = 1_000_000 + Math.floor(Math.random() * 1_000_000);

export class Recorder implements BinlogHandler, AsyncDisposable {
  readonly transactions: RecordedTransaction[] = [];
  readonly tables: BinlogTable[] = [];
  stream!: BinlogStream;
  readonly abort = new AbortController();
  private current: RecordedTransaction | null = null;
  private waiting: (() => void) | null = null;

  private constructor(private readonly options: RecorderOptions) {}

  static async open(options: RecorderOptions): Promise<Recorder> {
    const recorder = new Recorder(options);
    const { host, port, user, password } = options.server;
    recorder.stream = await openBinlogStream({
      host, port, user, password, serverId: nextServerId++, position: options.position, handler: recorder, signal: recorder.abort.signal, ...options.stream,
    });
    return recorder;
  }

  begin(transaction: { gtid: string; committedAt: number }): void {
    this.current = { ...transaction, rows: [], statements: [] };
  }

  table(table: BinlogTable): RowSink | null {
    const wanted = this.options.want ? this.options.want(table) : table.schema.startsWith(this.options.schema ?? "") ? { columns: table.columns.map((_, i) => i), keyCells: [0] } : null;
    if (wanted === null) return null;
    this.tables.push(table);
    return {
      ...wanted,
      row: (beforeKey, afterKey, after) => {
        const cells = after === null ? null : rowCells(after).map((cell) => cell?.toString("latin1") ?? null);
        const row = { table: table.table, beforeKey, afterKey, cells };
        if (this.options.onRow) this.options.onRow(row);
        else this.current?.rows.push(row);
      },
    };
  }

  statement(statement: BinlogStatement): void {
    this.current?.statements.push(statement);
  }

  commit(): void {
    const transaction = this.current as RecordedTransaction;
    this.current = null;
    this.options.onCommit?.(transaction);
    this.transactions.push(transaction);
    this.waiting?.();
  }

  /** Waits until `found` finds something in what came; fails when the stream ends. */
  async until<T>(found: (transactions: RecordedTransaction[]) => T | undefined | false, patience = 20_000): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`nothing came in ${patience} ms`)), patience);
    });
    try {
      for (;;) {
        const result = found(this.transactions);
        if (result !== undefined && result !== false) return result;
        const more = new Promise<void>((resolve) => (this.waiting = resolve));
        await Promise.race([more, tooLate, this.stream.ended.then(() => Promise.reject(new Error("the stream ended")))]);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Every row of `table` that has come, whatever its transaction. */
  rowsOf(table: string): RecordedRow[] {
    return this.transactions.flatMap(({ rows }) => rows.filter((row) => row.table === table));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stream.close();
  }
}
