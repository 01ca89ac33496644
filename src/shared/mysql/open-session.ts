/**
 * Opens a session with Drover's bounds (design §5). Whatever happens to this process, the server frees what the
 * session holds after these bounds; that is promise 1, and the reason why each of them is set before anything else.
 */
import { readFileSync } from "node:fs";
import type { Duplex } from "node:stream";
import mysql, { type Connection } from "mysql2";
import { DroverError, abortedError } from "../errors.js";
import type { ByteSql } from "./bytes.js";
import { MysqlSession } from "./mysql-session.js";
import { connectionCures, type ServerAddress } from "./server-address.js";
import { serverError } from "./server-error.js";
import type { SessionObserver } from "./session-observer.js";
import { nameSocket } from "./tls-host.js";

/** What a session is for; decides its bounds. */
export type SessionRole = "source" | "target";

export interface SessionOptions {
  role: SessionRole;
  signal: AbortSignal;
  /** Identity of the process, shown by `performance_schema.session_connect_attrs`: the orphan killer goes by it. */
  worker: string;
  /** What the processes of one deployment have in common. */
  deployment: string;
  observer?: SessionObserver | undefined;
}

/**
 * Without a packet for this long the server counts as lost (milliseconds). A statement that works in silence for longer
 * says so; on a source the server itself ends a SELECT earlier.
 */
const PATIENCE: Record<SessionRole, number> = { source: 8_000, target: 12_000 };

/** How long connecting may take, in milliseconds. */
const CONNECT_TIMEOUT = 5_000;

/** @throws DroverError CONNECTION_LOST, STATEMENT_REFUSED (wrong password), ABORTED */
export async function openSession(address: ServerAddress, options: SessionOptions): Promise<MysqlSession> {
  if (options.signal.aborted) throw abortedError(options.signal);
  const connection = mysql.createConnection({
    host: address.host,
    port: address.port,
    user: address.user,
    password: address.password,
    ...tlsOptions(address),
    charset: "BINARY",
    connectTimeout: CONNECT_TIMEOUT,
    // A peer that vanished without a FIN is noticed by the kernel's keepalive in about 13 s (3 s idle, then 10 probes of 1 s).
    enableKeepAlive: true,
    keepAliveInitialDelay: 3_000,
    flags: ["+LOCAL_FILES", "-FOUND_ROWS"],
    // Without a factory of the statement's own, a server's request for a local file gets nothing.
    infileStreamFactory: () => {
      throw new DroverError("BUG", "the server asked for a file that no statement of ours offers");
    },
    connectAttributes: { program_name: "drover", drover_worker: options.worker, drover_role: options.role, drover_deployment: options.deployment },
  });
  nameSocket(connection, address.host);
  const isMariaDb = await handshake(connection, address, options.signal);
  keepBytes(connection);
  const session = new MysqlSession({
    connection, server: address.name, signal: options.signal, isMariaDb, patience: PATIENCE[options.role],
    onStatement: options.observer && ((kind, milliseconds, failed) => options.observer?.statementEnded(options.role, kind, milliseconds, failed)),
  });
  options.observer?.sessionOpened(options.role);
  try {
    await session.run(boundsStatement(options.role, isMariaDb));
    const [limits] = await session.rows("SELECT @@max_allowed_packet AS packet, @@local_infile AS local_files, VERSION() AS version" as ByteSql);
    session.maxAllowedPacket = Number(limits?.["packet"]);
    session.localInfile = limits?.["local_files"] === "1";
    session.version = limits?.["version"] ?? "";
  } catch (error) {
    session.destroy();
    throw error;
  }
  return session;
}

/**
 * The driver takes on a character set that a statement sets (the server reports it by session tracking) and would then
 * encode byte SQL as UTF-8, every byte from 0x80 on doubled. Statements of ours are bytes whatever the session's character set is.
 */
function keepBytes(connection: Connection): void {
  const { config } = connection as unknown as { config: { charsetNumber: number } };
  const binary = config.charsetNumber;
  Object.defineProperty(config, "charsetNumber", { get: () => binary, set: () => {} });
}

function handshake(connection: Connection, address: ServerAddress, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      // The server's last word would be parsed as a part of the handshake, and the driver complains of it on the console.
      (connection as unknown as { stream: Duplex }).stream.removeAllListeners("data");
      connection.destroy();
      reject(abortedError(signal));
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const settle = () => signal.removeEventListener("abort", onAbort);
    connection.once("error", (error) => {
      settle();
      connection.destroy();
      reject(serverError(error, address.name, connectionCures(address.name)));
    });
    connection.once("connect", (packet: { serverVersion?: string }) => {
      settle();
      resolve(/mariadb/i.test(packet.serverVersion ?? ""));
    });
  });
}

function readCa(address: ServerAddress, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new DroverError("CONFIG_INVALID", `connection ${address.name}: the file ${file} (sslCa) cannot be read`, { cause });
  }
}

/** The driver's TLS options of an address: nothing, or `ssl`. */
export function tlsOptions(address: ServerAddress) {
  if (address.ssl.mode === "off") return {};
  const ca = address.ssl.caFile === null ? {} : { ca: readCa(address, address.ssl.caFile) };
  return { ssl: { ...ca, rejectUnauthorized: address.ssl.mode === "verify", verifyIdentity: address.ssl.mode === "verify" } };
}

/** The longest a SELECT of ours may run on a source, in milliseconds: DDL there waits at most this long for us. */
const SOURCE_STATEMENT_TIME = 4_000;
/** The longest bookkeeping SELECT on a target, in milliseconds. */
const TARGET_STATEMENT_TIME = 30_000;

function boundsStatement(role: SessionRole, isMariaDb: boolean): ByteSql {
  // A stopped client is let go after these seconds: in the middle of a result or a file, and idle. A LOAD DATA LOCAL whose
  // client is silent waits twice, for the file's next bytes and then for its end (measured on 9.7: 20 s at 10 s).
  const { network, idle } = role === "source" ? { network: 5, idle: 5 } : { network: 4, idle: 7 };
  const limit = role === "source" ? SOURCE_STATEMENT_TIME : TARGET_STATEMENT_TIME;
  const settings = [
    // What a server or its init_connect may have set otherwise, and what the protocol rests on: a statement alone is a transaction that has
    // ended, a result is whole, a unique key is unique, SHOW CREATE shows all, quoted.
    "autocommit=1", "completion_type=0", "sql_select_limit=18446744073709551615", "sql_safe_updates=0", "sql_big_selects=1", "sql_auto_is_null=0", "unique_checks=1", "sql_quote_show_create=1",
    ...(role === "target" ? [isMariaDb ? "tx_read_only=0" : "transaction_read_only=0"] : []),
    `net_write_timeout=${network}`,
    `net_read_timeout=${network}`,
    `wait_timeout=${idle}`,
    // MariaDB's limit counts in seconds and ends every statement, an index build too: there it goes on the source only.
    isMariaDb ? (role === "source" ? `max_statement_time=${limit / 1000}` : "max_statement_time=0") : `max_execution_time=${limit}`,
    "lock_wait_timeout=4",
    "innodb_lock_wait_timeout=4",
    "time_zone='+00:00'",
    // Permissive, so that whatever the source could store is stored: zero and partial dates, id 0, values out of a later rule.
    "sql_mode='NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'",
    "transaction_isolation='READ-COMMITTED'".replace("transaction_isolation", isMariaDb ? "tx_isolation" : "transaction_isolation"),
    ...(role === "target" ? ["foreign_key_checks=0"] : []),
  ];
  // MySQL 8.0.30 and later may hide a generated primary key.
  const shown = isMariaDb ? "" : " /*!80030 , SESSION show_gipk_in_create_table_and_information_schema=1 */";
  return `SET NAMES binary, ${settings.map((s) => `SESSION ${s}`).join(", ")}${shown}` as ByteSql;
}
