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

export async function openBenchServers(options: { targetBinlog: boolean }): Promise<BenchServers> {
  const onTarget: ServerConfig = options.targetBinlog ? COMMON : { ...COMMON, log_bin: false };
  const servers = await openServers({ log: progress });
  try {
    const [source, target, redis] = await Promise.all([
      servers.mysql({ name: "source", config: COMMON }),
      servers.mysql({ name: "target", config: onTarget }),
      servers.redis(),
    ]);
    progress(servers.how);
    let replica: Promise<MysqlServer> | undefined;
    return {
      source, target, redis,
      replica: () => (replica ??= servers.mysql({ name: "replica", config: onTarget })),
      [Symbol.asyncDispose]: () => servers.close(),
    };
  } catch (error) {
    await servers.close();
    throw error;
  }
}
