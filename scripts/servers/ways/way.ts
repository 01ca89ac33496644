/** A way to get servers. Which one is used is decided per kind: MySQL may come from Docker and Redis from the PATH. */
import type { Flavor, Log, MysqlOptions, MysqlServer, RedisOptions, RedisServer } from "../server.js";
import type { Workspace } from "../workspace.js";

export type Kind = Flavor | "redis";

/** A way that has what it takes: it opens as many servers as asked. */
export interface Opener<Options, Server> {
  /** For people: `mysqld 9.7.4 from the PATH`. */
  readonly what: string;
  open(options: Options): Promise<Server>;
}

export type MysqlOpener = Opener<MysqlOptions, MysqlServer>;
export type RedisOpener = Opener<RedisOptions, RedisServer>;

export interface WayContext {
  /** The folder for processes of this machine; made at the first call. */
  workspace(): Promise<Workspace>;
  log: Log;
}

/** Throws, with the reason, where this machine does not offer the way. All slow preparations happen here. */
export interface Way {
  readonly name: string;
  mysql(flavor: Flavor, context: WayContext): Promise<MysqlOpener>;
  redis(context: WayContext): Promise<RedisOpener>;
}
