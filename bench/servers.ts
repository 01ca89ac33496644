/** A source, two equal targets and a Redis. Both sides of every comparison run on these, one after the other. */
import { openServers, type MysqlServer, type RedisServer, type ServerConfig } from "../scripts/servers/index.js";
import { progress } from "./progress.js";

export interface BenchServers extends AsyncDisposable {
  source: MysqlServer;
  target: MysqlServer;
  redis: RedisServer;
  /** A second target, with the same settings; opened when it is asked for. */
  replica(): Promise<MysqlServer>;
}

/** Durability stays at the server's defaults. */
const COMMON: ServerConfig = { innodb_buffer_pool_size: "1G" };
/** Nobody replicates from the targets, and myloader would switch the binlog off for its session anyway. */
export const TARGET_BINLOG = false;
const TARGET: ServerConfig = { ...COMMON, log_bin: TARGET_BINLOG };

export async function openBenchServers(): Promise<BenchServers> {
  const servers = await openServers({ log: progress });
  try {
    const [source, target, redis] = await Promise.all([
      servers.mysql({ name: "source", config: COMMON }),
      servers.mysql({ name: "target", config: TARGET }),
      servers.redis(),
    ]);
    progress(servers.how);
    let replica: Promise<MysqlServer> | undefined;
    return {
      source, target, redis,
      replica: () => (replica ??= servers.mysql({ name: "replica", config: TARGET })),
      [Symbol.asyncDispose]: () => servers.close(),
    };
  } catch (error) {
    await servers.close();
    throw error;
  }
}
