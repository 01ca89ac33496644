import type { ConnectionOptions } from "mysql2";
import { abortedError, DroverError } from "../../shared/errors.js";
import { BinlogDecoder } from "./binlog-decoder.js";
import { DumpConnection, type RawPacket } from "./dump-connection.js";
import { EVENT } from "./event-types.js";
import type { BinlogHandler } from "./events.js";
import { streamError } from "./stream-error.js";
import { loadZstd } from "./zstd.js";

export interface BinlogStreamOptions {
  host: string;
  port: number;
  user: string;
  password: string;
  ssl?: ConnectionOptions["ssl"];
  /** `program_name` and the like, for `performance_schema.session_connect_attrs`. */
  connectAttributes?: Record<string, string>;
  /** Unique among all replicas of the source. */
  serverId: number;
  /** A MySQL GTID set or a MariaDB GTID position: what comes after it is streamed. Empty means the whole binlog. */
  position: string;
  handler: BinlogHandler;
  /** Ends the stream as `close` does. */
  signal: AbortSignal;
  /** The stream is lost when not even a heartbeat comes for this long. */
  silenceMilliseconds?: number;
}

/** A running stream. Each error is the end of it. */
export interface BinlogStream {
  /** Stops the handler's calls, at once when called from one of them; inside a compressed transaction at its next event or soon after. */
  pause(): void;
  resume(): void;
  /** Resolves after `close` or an abort; rejects with a DroverError when the stream broke. */
  readonly ended: Promise<void>;
  /** Ends the stream and its sessions on the server; the handler is not called any more. Takes a second at most. */
  close(): Promise<void>;
  /** When bytes came from the server last, heartbeats included (`Date.now()`). */
  readonly lastPacketAt: number;
  /** Ids of the stream's sessions on the server. */
  readonly sessionIds: readonly number[];
}

const SILENCE_MILLISECONDS = 10_000;
/** Until events flow the server may be searching its files for the position, which not every version does with heartbeats. */
const OPENING_SILENCE_MILLISECONDS = 60_000;
/** What the dump begins with before it searches. */
const OPENING_EVENTS: ReadonlySet<number | undefined> = new Set([EVENT.ROTATE, EVENT.FORMAT_DESCRIPTION, EVENT.PREVIOUS_GTIDS, EVENT.MARIADB_GTID_LIST]);
const HEARTBEAT_MILLISECONDS = 1000;
const WATCH_MILLISECONDS = 1000;
/** The controlling session is kept alive by a ping each so many watches. */
const WATCHES_PER_PING = 30;
/** A compressed transaction is decoded in slices of this time, so that timers and job locks go on. */
const SLICE_MILLISECONDS = 15;

/**
 * Opens the binlog stream of a source. The promise is fulfilled when the server has begun to send; the handler's first call comes after
 * that, so that it can use the stream.
 * @throws DroverError CONNECTION_LOST, STATEMENT_REFUSED, BINLOG_PURGED, ABORTED
 */
export async function openBinlogStream(options: BinlogStreamOptions): Promise<BinlogStream> {
  await loadZstd();
  const stream = new Stream(options);
  return await stream.opened;
}

class Stream implements BinlogStream {
  readonly opened: Promise<BinlogStream>;
  readonly ended: Promise<void>;
  lastPacketAt = Date.now();

  private readonly decoder: BinlogDecoder;
  private readonly dump: DumpConnection;
  private readonly signal: AbortSignal;
  private readonly silence: number;
  private readonly onAbort = (): void => void this.close();
  private watch: NodeJS.Timeout | null;
  private watches = 0;
  private lastWatchAt = Date.now();

  private resolveOpened!: (stream: BinlogStream) => void;
  private rejectOpened!: (error: unknown) => void;
  private resolveEnded!: () => void;
  private rejectEnded!: (error: unknown) => void;

  /** Packets have begun to come. */
  private started = false;
  /** An event has come that is not one of the opening ones. */
  private flowing = false;
  /** The caller's wish. */
  private paused = false;
  /** A compressed transaction is being worked off; packets wait meanwhile. */
  private inPayload = false;
  private finished: Promise<void> | null = null;

  constructor(options: BinlogStreamOptions) {
    this.opened = new Promise((resolve, reject) => {
      this.resolveOpened = resolve;
      this.rejectOpened = reject;
    });
    this.ended = new Promise((resolve, reject) => {
      this.resolveEnded = resolve;
      this.rejectEnded = reject;
    });
    // Whoever does not look at `ended` yet must not have the process ended by it.
    this.ended.catch(() => {});
    this.decoder = new BinlogDecoder(options.handler);
    this.signal = options.signal;
    this.silence = options.silenceMilliseconds ?? SILENCE_MILLISECONDS;
    this.dump = new DumpConnection({
      host: options.host,
      port: options.port,
      user: options.user,
      password: options.password,
      ssl: options.ssl,
      connectAttributes: options.connectAttributes,
      serverId: options.serverId,
      position: options.position,
      heartbeatMilliseconds: HEARTBEAT_MILLISECONDS,
      onPacket: (packet) => this.packet(packet),
      onBytes: () => {
        this.lastPacketAt = Date.now();
      },
      onError: (error) => void this.finish(streamError(error)),
    });
    this.watch = setInterval(() => this.look(), WATCH_MILLISECONDS);
    if (this.signal.aborted) {
      void this.close();
      return;
    }
    this.signal.addEventListener("abort", this.onAbort, { once: true });
    this.dump.start();
  }

  get sessionIds(): readonly number[] {
    return this.dump.sessionIds;
  }

  pause(): void {
    this.paused = true;
    this.dump.pause();
  }

  resume(): void {
    if (!this.paused || this.finished !== null) return;
    this.paused = false;
    this.goOn();
  }

  async close(): Promise<void> {
    await this.finish(null);
  }

  /** Continues where the flow stopped, not inside the caller's call. */
  private goOn(): void {
    setImmediate(() => {
      if (this.paused || this.finished !== null) return;
      this.lastPacketAt = Date.now();
      try {
        if (!this.workOff()) return this.paused ? undefined : this.goOn();
      } catch (error) {
        return this.fail(error);
      }
      if (!this.paused) this.dump.resume();
    });
  }

  private packet(packet: RawPacket): void {
    if (this.finished !== null) return;
    if (!this.started) {
      this.started = true;
      // The first packet is the dump thread's own; the caller gets the stream before the handler is called for any later one.
      this.dump.pause();
      this.resolveOpened(this);
      this.goOn();
    }
    if (!this.flowing) this.flowing = !OPENING_EVENTS.has(packet.buffer[packet.offset + 5]);
    try {
      // A byte of status before the event: 0, as errors have been sorted out.
      if (!this.decoder.event(packet.buffer, packet.offset + 1, packet.end)) return;
      this.inPayload = true;
      // Small ones, the most, are done in this slice; the packets behind a large one wait.
      if (this.workOff()) return;
      this.dump.pause();
      this.goOn();
    } catch (error) {
      this.fail(error);
    }
  }

  /** Decodes a slice of the compressed transaction, if there is one; returns whether nothing of it is left. */
  private workOff(): boolean {
    if (!this.inPayload) return true;
    const until = performance.now() + SLICE_MILLISECONDS;
    while (this.decoder.step()) {
      if (this.finished !== null || this.paused || performance.now() >= until) return false;
    }
    this.inPayload = false;
    return true;
  }

  /** Runs each second: notices a dead connection, keeps the other one alive. */
  private look(): void {
    const now = Date.now();
    // After a SIGSTOP or a long computation the socket must get its turn first.
    const late = now - this.lastWatchAt > 3 * WATCH_MILLISECONDS;
    this.lastWatchAt = now;
    if (late) this.lastPacketAt = Math.max(this.lastPacketAt, now);
    if (this.started && ++this.watches % WATCHES_PER_PING === 0) this.dump.ping();
    const limit = this.flowing ? this.silence : Math.max(this.silence, OPENING_SILENCE_MILLISECONDS);
    if (this.paused || this.inPayload || now - this.lastPacketAt <= limit) return;
    void this.finish(new DroverError("CONNECTION_LOST", `the binlog stream ended: no packet and no heartbeat for ${limit} ms`));
  }

  /** Ends the stream on an error of the decoder or the handler. */
  private fail(thrown: unknown): void {
    void this.finish(thrown instanceof DroverError ? thrown : bug(thrown));
  }

  private async finish(error: DroverError | null): Promise<void> {
    this.finished ??= this.tearDown(error);
    await this.finished;
  }

  private async tearDown(error: DroverError | null): Promise<void> {
    if (this.watch !== null) clearInterval(this.watch);
    this.watch = null;
    this.signal.removeEventListener("abort", this.onAbort);
    await this.dump.close();
    this.decoder.close();
    this.rejectOpened(error ?? abortedError(this.signal));
    if (error === null) this.resolveEnded();
    else this.rejectEnded(error);
  }
}

/** The thrown text may hold anything, so only its kind is told; the cause has the rest. */
function bug(thrown: unknown): DroverError {
  const name = thrown instanceof Error ? thrown.name : typeof thrown;
  return new DroverError("BUG", `reading the binlog failed with an unexpected ${name}`, { cause: thrown });
}
