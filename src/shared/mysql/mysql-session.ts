/** `Session` over one mysql2 connection. Rows come as the protocol's own bytes: the driver's value parsing never runs. */
import { Readable, type Duplex } from "node:stream";
import type { Connection } from "mysql2";
import { rowCells } from "../columns/text-row.js";
import { DroverError, abortedError } from "../errors.js";
import type { ByteSql } from "./bytes.js";
import { serverError } from "./server-error.js";
import type { RunOptions, Session, TextRecord, WriteResult } from "./session.js";
import type { StatementKind } from "./session-observer.js";

/** What we use of mysql2's internals; every test that reads rows of a server fails when a new version changes them. */
interface RawPacket {
  buffer: Buffer;
  offset: number;
  end: number;
  isEOF(): boolean;
}
type PacketHandler = (packet: RawPacket, connection: unknown) => PacketHandler | null;
interface RawQuery {
  row: PacketHandler;
  readonly _fields: { name: string }[][];
  done(): null;
}

interface SessionParts {
  connection: Connection;
  server: string;
  signal: AbortSignal;
  isMariaDb: boolean;
  /** Without a packet for this long (milliseconds) the connection counts as lost. */
  patience: number;
  /** Told of every statement that ended. */
  onStatement?: ((kind: StatementKind, milliseconds: number, failed: boolean) => void) | undefined;
}

/** How long a server may need until it counts a client no more, in milliseconds. */
const LET_GO = { polite: 30, destroyed: 500 };

export class MysqlSession implements Session {
  readonly server: string;
  readonly id: number;
  readonly isMariaDb: boolean;
  version = "";
  maxAllowedPacket = 4 * 1024 * 1024;
  localInfile = false;
  private readonly connection: Connection;
  private readonly patience: number;
  private readonly onStatement: SessionParts["onStatement"];
  private signal: AbortSignal;
  private alive = true;
  /** The session ended with a word to the server. */
  private polite = false;
  private idleError: unknown;
  /** Fails the statement in flight. */
  private interrupt: ((error: unknown) => void) | undefined;

  constructor(parts: SessionParts) {
    this.connection = parts.connection;
    this.server = parts.server;
    this.id = parts.connection.threadId ?? 0;
    this.isMariaDb = parts.isMariaDb;
    this.patience = parts.patience;
    this.onStatement = parts.onStatement;
    this.signal = parts.signal;
    // A killed connection may surface only here, between two statements.
    this.connection.on("error", (error) => this.broke(error));
    this.connection.on("end", () => this.broke(new DroverError("CONNECTION_LOST", `${this.server}: the server closed the connection`)));
    this.signal.addEventListener("abort", this.onAbort);
  }

  get usable(): boolean {
    return this.alive && !this.signal.aborted;
  }

  /** Hands the session to its next user. */
  lend(signal: AbortSignal): void {
    this.signal.removeEventListener("abort", this.onAbort);
    this.signal = signal;
    signal.addEventListener("abort", this.onAbort);
    if (signal.aborted) this.onAbort();
  }

  async rows(statement: ByteSql): Promise<TextRecord[]> {
    const records: TextRecord[] = [];
    let names: string[] | undefined;
    await this.read(statement, (query, buffer, start, end) => {
      // The driver decodes names with the session's character set, which is binary; they are UTF-8.
      names ??= (query._fields[0] ?? []).map((field) => Buffer.from(field.name, "latin1").toString("utf8"));
      const cells = rowCells(buffer, start, end);
      records.push(Object.fromEntries(names.map((name, i) => [name, cells[i]?.toString("utf8") ?? null])));
    });
    return records;
  }

  async readRows(statement: ByteSql, onRow: (buffer: Buffer, start: number, end: number) => boolean | void): Promise<boolean> {
    let complete = true;
    const stopped = new DroverError("ABORTED", "the reader has enough");
    try {
      await this.read(statement, (_query, buffer, start, end) => {
        if (!complete || onRow(buffer, start, end) !== false) return;
        complete = false;
        this.interrupt?.(stopped);
      });
    } catch (error) {
      if (error !== stopped) throw error;
    }
    return complete;
  }

  run(statement: ByteSql, options: RunOptions = {}): Promise<WriteResult> {
    return this.write(statement, undefined, options);
  }

  load(statement: ByteSql, chunks: readonly Buffer[]): Promise<WriteResult> {
    return this.write(statement, chunks, {});
  }

  destroy(): void {
    this.alive = false;
    this.signal.removeEventListener("abort", this.onAbort);
    this.connection.destroy();
    this.interrupt?.(new DroverError("CONNECTION_LOST", `${this.server}: the connection was closed`));
  }

  /** Calls `closed` once the server is rid of the session; of one that was destroyed at work it knows a moment later. */
  whenClosed(closed: () => void): void {
    (this.connection as unknown as { stream: Duplex }).stream.once("close", () => setTimeout(closed, this.polite ? LET_GO.polite : LET_GO.destroyed).unref());
  }

  /** Says goodbye to the server: what ends without a word counts there as an aborted client. */
  end(): void {
    if (!this.alive) return this.destroy();
    this.alive = false;
    this.polite = true;
    this.signal.removeEventListener("abort", this.onAbort);
    this.connection.end(() => this.connection.destroy());
    setTimeout(() => this.connection.destroy(), 1_000).unref();
  }

  private read(statement: ByteSql, onRow: (query: RawQuery, buffer: Buffer, start: number, end: number) => void): Promise<void> {
    return this.exclusively(statement, "read", {}, (settle, touch) => {
      const query = this.connection.query({ sql: statement }, (error) => settle(error, undefined)) as unknown as RawQuery;
      const onPacket: PacketHandler = (packet) => {
        touch();
        if (packet.isEOF()) return query.done();
        if (this.alive) onRow(query, packet.buffer, packet.offset, packet.end);
        return onPacket;
      };
      query.row = onPacket;
    });
  }

  private write(statement: ByteSql, chunks: readonly Buffer[] | undefined, options: RunOptions): Promise<WriteResult> {
    return this.exclusively(statement, chunks === undefined ? "write" : "load", options, (settle, touch) => {
      const infileStreamFactory = chunks === undefined ? {} : { infileStreamFactory: () => Readable.from(touching(chunks, touch), { objectMode: false }) };
      this.connection.query({ sql: statement, ...infileStreamFactory }, (error, result) => {
        const header = result as { affectedRows?: number; warningStatus?: number; info?: string } | undefined;
        settle(error, { affectedRows: header?.affectedRows ?? 0, warnings: header?.warningStatus ?? 0, info: header?.info ?? "" });
      });
    });
  }

  /** Runs one statement; any error, abort or silence destroys the session. */
  private exclusively<T>(statement: ByteSql, kind: StatementKind, options: RunOptions, start: (settle: (error: unknown, value: T) => void, touch: () => void) => void): Promise<T> {
    const patience = options.patience ?? this.patience;
    return new Promise<T>((resolve, reject) => {
      if (this.interrupt) return reject(new DroverError("BUG", `${this.server}: two statements at once on one session`));
      if (this.signal.aborted) return reject(abortedError(this.signal));
      if (!this.alive) return reject(serverError(this.idleError ?? new DroverError("CONNECTION_LOST", `${this.server}: the connection is closed`), this.server));
      if (statement.length + 64 > this.maxAllowedPacket)
        return reject(new DroverError("ROW_REFUSED", `${this.server}: a statement of ${statement.length} bytes is larger than max_allowed_packet (${this.maxAllowedPacket})`, { cure: "raise max_allowed_packet on that server" }));
      const began = performance.now();
      let lastPacket = Date.now();
      const timer = setInterval(() => {
        if (Date.now() - lastPacket > patience) this.interrupt?.(new DroverError("CONNECTION_LOST", `${this.server}: no answer for ${patience} ms`));
      }, 1_000);
      const end = (failed: boolean) => {
        clearInterval(timer);
        this.interrupt = undefined;
        this.onStatement?.(kind, performance.now() - began, failed);
      };
      this.interrupt = (error) => {
        end(true);
        this.alive = false;
        this.connection.destroy();
        reject(serverError(error, this.server));
      };
      start(
        (error, value) => {
          if (!this.interrupt) return;
          if (error) return this.interrupt(error);
          end(false);
          resolve(value);
        },
        () => (lastPacket = Date.now()),
      );
    });
  }

  private broke(error: unknown): void {
    this.idleError = error;
    this.alive = false;
    this.interrupt?.(error);
  }

  private readonly onAbort = (): void => {
    this.alive = false;
    this.connection.destroy();
    this.interrupt?.(abortedError(this.signal));
  };
}

function* touching(chunks: readonly Buffer[], touch: () => void): Generator<Buffer> {
  for (const chunk of chunks) {
    touch();
    yield chunk;
  }
}
