/** What this module hands out. One MySQL or Redis, however it was brought up. */

export type Flavor = "mysql" | "mariadb";

/** Extra server options, by the names of the server's manual: `{ max_allowed_packet: '64M' }`. */
export type ServerConfig = Record<string, string | number | boolean>;

export interface MysqlOptions {
  /** Shows in logs and in the name of the data folder. */
  name: string;
  /** Random when absent, so that two servers never share one by accident. */
  serverId?: number;
  /** Wins over this module's defaults. */
  config?: ServerConfig;
  flavor?: Flavor;
}

export interface RedisOptions {
  name?: string;
}

/** What can be done to a server while it runs. Servers named by the environment refuse all but `close`. */
export interface ServerControl {
  /** Clean shutdown; the data stays. */
  stop(): Promise<void>;
  /** `kill -9`; the data stays. */
  kill(): Promise<void>;
  /** Starts again on the same port and data; resolves when it answers. */
  start(): Promise<void>;
  /** Ends the server and deletes its data. */
  close(): Promise<void>;
}

export interface MysqlServer extends ServerControl {
  readonly name: string;
  readonly flavor: Flavor;
  /** As the server says it: `9.7.4-2`, `10.11.14-MariaDB-…`. */
  readonly version: string;
  readonly host: string;
  readonly port: number;
  /** Holds all privileges, with GRANT OPTION. */
  readonly user: string;
  readonly password: string;
  /** `mysql://user:password@host:port/` */
  readonly url: string;
  /** Of the server process, where it is a process of this machine that this module started. */
  readonly pid?: number | undefined;
  readonly dataDir?: string | undefined;
}

export interface RedisServer extends ServerControl {
  readonly host: string;
  readonly port: number;
  /** `redis://host:port` */
  readonly url: string;
  readonly pid?: number | undefined;
}

export interface Servers extends AsyncDisposable {
  mysql(options: MysqlOptions): Promise<MysqlServer>;
  redis(options?: RedisOptions): Promise<RedisServer>;
  /** One line for people: which way each kind of server came from, so far. */
  readonly how: string;
  close(): Promise<void>;
}

export type Log = (line: string) => void;
