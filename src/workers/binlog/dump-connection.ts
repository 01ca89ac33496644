import ZongJi from "@vlasky/zongji";
import type { Connection, ConnectionOptions } from "mysql2";
import { DroverError } from "../../shared/errors.js";
import { nameSocket } from "../../shared/mysql/tls-host.js";

/**
 * The dump of the binlog as zongji opens it: handshake, checksum negotiation, the dump command with a GTID set. Its own decoding
 * never runs: in its `ready` event, right before it enqueues a `BinlogClass`, that class is replaced by one that hands each raw
 * packet on. All knowledge of zongji 0.9.0's and mysql2's insides is in this file; `test/integration/binlog-stream.test.ts` fails when a new version changes them.
 */

/** A packet of mysql2, valid during the call only: the payload lies in `buffer` from `offset` to `end`. */
export interface RawPacket {
  buffer: Buffer;
  offset: number;
  end: number;
  isEOF(): boolean;
}

/** What is used of a mysql2 command (`lib/commands/command.js`): each packet goes to the function that the last one returned. */
interface Command {
  start(packet: RawPacket | undefined, connection: unknown): unknown;
  /** Set: errors of the server and of the connection come here, and mysql2 emits no `error` for them. */
  onResult?: (error: Error) => void;
}

/** What is used of zongji beyond its types. */
interface ZongjiInternals {
  BinlogClass: new (callback: unknown) => Command;
  connection: Connection & { stream: NodeJS.ReadableStream & { destroy(): void } };
  ctrlConnection: Connection & { stream: { destroy(): void } };
  isMariaDb: boolean;
}

export interface DumpOptions {
  host: string;
  port: number;
  user: string;
  password: string;
  ssl?: ConnectionOptions["ssl"] | undefined;
  connectAttributes?: Record<string, string> | undefined;
  /** Unique among all replicas of the source: of two dumps with one id the server ends the older. */
  serverId: number;
  /** The GTID set that is already known; empty for the whole binlog. */
  position: string;
  /** How often the server says that it is alive when there are no events. */
  heartbeatMilliseconds: number;
  onPacket(packet: RawPacket): void;
  onBytes(): void;
  onError(error: unknown): void;
}

/** How long the server waits for us to take what it sends. The dump holds no locks, so it may wait while we are paused. */
const WRITE_TIMEOUT_SECONDS = 600;
/** The other connection only waits to kill the dump; `ping` keeps it alive. */
const IDLE_TIMEOUT_SECONDS = 120;

export class DumpConnection {
  private readonly zongji: InstanceType<typeof ZongJi>;
  private closed: Promise<void> | null = null;

  constructor(private readonly options: DumpOptions) {
    const { host, port, user, password, ssl, connectAttributes } = options;
    this.zongji = new ZongJi({
      host,
      port,
      user,
      password,
      ...(ssl === undefined ? {} : { ssl }),
      ...(connectAttributes === undefined ? {} : { connectAttributes }),
    });
    this.zongji.on("error", (error: unknown) => options.onError(error));
    this.zongji.on("ready", () => this.prepare());
  }

  private get internals(): ZongjiInternals {
    return this.zongji as unknown as ZongjiInternals;
  }

  /** Connects and asks for the dump; packets and errors come by the options' functions. */
  start(): void {
    this.zongji.start({ serverId: this.options.serverId, gtidSet: this.options.position });
    for (const connection of [this.internals.connection, this.internals.ctrlConnection]) nameSocket(connection, this.options.host);
  }

  /** Ids of the two sessions on the server, once they are known. */
  get sessionIds(): number[] {
    const { connection, ctrlConnection } = this.internals;
    return [connection?.threadId, ctrlConnection?.threadId].filter((id): id is number => typeof id === "number");
  }

  pause(): void {
    this.internals.connection?.pause();
  }

  resume(): void {
    this.internals.connection?.resume();
  }

  /** The callback of a statement; mysql2 gives no error as null or, for a ping, as undefined. */
  private readonly check = (error: unknown): void => {
    if (error !== null && error !== undefined) this.options.onError(error);
  };

  /** Keeps the controlling session alive. */
  ping(): void {
    this.internals.ctrlConnection?.ping(this.check);
  }

  /** Kills the dump on the server and ends both connections; takes a second at most. */
  async close(): Promise<void> {
    this.closed ??= new Promise((resolve) => {
      const sockets = [this.internals.connection?.stream, this.internals.ctrlConnection?.stream];
      this.zongji.removeAllListeners("error");
      this.zongji.on("error", () => {});
      this.zongji.once("stopped", () => {
        // zongji ends its connections politely; a socket that nobody reads would stay half open.
        for (const socket of sockets) socket?.destroy();
        resolve();
      });
      this.zongji.stop();
    });
    await this.closed;
  }

  /**
   * Runs in zongji's `ready` event, when both sessions are set up: what is enqueued here runs before the dump command, and
   * the dump command is an instance of whatever `BinlogClass` is when this returns.
   */
  private prepare(): void {
    const zongji = this.internals;
    const { onError, onPacket, onBytes, heartbeatMilliseconds } = this.options;
    const check = this.check;
    const period = BigInt(heartbeatMilliseconds) * 1_000_000n;
    zongji.connection.query(`SET SESSION net_write_timeout = ${WRITE_TIMEOUT_SECONDS}`, check);
    // In nanoseconds. Servers know the old name, 8.0.26 and later the new one too; an unknown one is only a user variable.
    zongji.connection.query(`SET @master_heartbeat_period = ${period}, @source_heartbeat_period = ${period}`, check);
    // zongji asks for checksums only when new files have them; each file says for itself whether it has.
    zongji.connection.query("SET @master_binlog_checksum = 'CRC32', @source_binlog_checksum = 'CRC32'", check);
    zongji.ctrlConnection.query(`SET SESSION wait_timeout = ${IDLE_TIMEOUT_SECONDS}`, check);

    const Dump = zongji.BinlogClass;
    zongji.BinlogClass = class extends Dump {
      override onResult = onError;

      override start(packet: RawPacket | undefined, connection: unknown): unknown {
        super.start(packet, connection);
        zongji.connection.stream.on("data", onBytes);
        return this.packet;
      }

      private packet(packet: RawPacket): unknown {
        if (packet.isEOF()) {
          onError(new DroverError("CONNECTION_LOST", "the binlog stream ended: the server has nothing more to send"));
          return null;
        }
        onPacket(packet);
        return this.packet;
      }
    };
  }
}
