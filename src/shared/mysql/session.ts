/** One MySQL session with Drover's bounds (design §5), opened by `openSession`, where the settings stand. */
import type { ByteSql } from "./bytes.js";

/** A row of a bookkeeping query: every value as UTF-8 text or null. */
export type TextRecord = Record<string, string | null>;

export interface WriteResult {
  affectedRows: number;
  warnings: number;
  /** The server's summary, such as `Records: 5  Deleted: 0  Skipped: 0  Warnings: 0` of LOAD DATA; empty when it gave none. */
  info: string;
}

export interface RunOptions {
  /** How long the server may work without a word, in milliseconds; the default is a few seconds (`open-session.ts`). */
  patience?: number;
}

/** One statement at a time. Any error, abort or silence destroys the session. */
export interface Session {
  /** The connection name of the settings (`SRC`), for messages. */
  readonly server: string;
  /** The server's connection id. */
  readonly id: number;
  /** False once an error, a timeout or an abort was seen: such a session is destroyed, never reused. */
  readonly usable: boolean;
  readonly isMariaDb: boolean;
  /** `VERSION()` */
  readonly version: string;
  /** `@@max_allowed_packet` in bytes. */
  readonly maxAllowedPacket: number;
  /** Whether the server takes LOAD DATA LOCAL. */
  readonly localInfile: boolean;
  /**
   * Runs a statement that returns rows; for small results. Values of `binary` columns come as latin1 bytes.
   * @throws DroverError CONNECTION_LOST, SERVER_BUSY, SERVER_UNAVAILABLE, STATEMENT_REFUSED, ABORTED
   */
  rows(statement: ByteSql): Promise<TextRecord[]>;
  /** Runs a statement that returns no rows. */
  run(statement: ByteSql, options?: RunOptions): Promise<WriteResult>;
  /**
   * Runs a SELECT and hands on each row as a raw text row: `buffer` from `start` to `end` (valid during the call only).
   * Return false to stop: the statement is killed and the session destroyed (the source holds nothing afterwards).
   * @returns whether the result was read to its end
   */
  readRows(statement: ByteSql, onRow: (buffer: Buffer, start: number, end: number) => boolean | void): Promise<boolean>;
  /** Runs a LOAD DATA LOCAL statement with `chunks` as the file's content. */
  load(statement: ByteSql, chunks: readonly Buffer[]): Promise<WriteResult>;
  /** Ends the connection at once. */
  destroy(): void;
}
