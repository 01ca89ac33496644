/** What the demo leaves on servers that are not its own: those that the environment names. Its own go with their data. */
import { Redis } from "ioredis";
import { createConnection } from "mysql2/promise";
import type { RowDataPacket } from "mysql2/promise";

import type { MysqlServer, RedisServer } from "../servers/index.js";
import { ACCOUNT, STATE_SCHEMA } from "./accounts.js";
import { SCHEMA } from "./shop-schema.js";

export interface TraceOptions {
  mysqls: readonly MysqlServer[];
  redis: RedisServer;
  prefix: string;
}

/** Looks first that nothing of somebody else's is in the way; disposing of the answer removes what the demo has made. */
export async function claim(options: TraceOptions): Promise<AsyncDisposable> {
  for (const server of options.mysqls) await refuseUsed(server);
  return {
    [Symbol.asyncDispose]: async () => {
      const foreign = options.mysqls.filter((server) => server.pid === undefined);
      // a server that does not answer any more keeps what it has
      await Promise.allSettled(foreign.map((server) => removeFrom(server)));
      if (options.redis.pid === undefined) await removeKeys(options.redis.url, options.prefix).catch(() => undefined);
    },
  };
}

async function refuseUsed(server: MysqlServer): Promise<void> {
  const connection = await createConnection(server.url);
  try {
    const [rows] = await connection.query<RowDataPacket[]>("SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA WHERE SCHEMA_NAME IN (?)", [[SCHEMA, STATE_SCHEMA]]);
    if (rows.length > 0) throw new Error(`the ${server.name} server has a schema "${rows[0]?.["name"]}" already: the demo needs servers without one`);
  } finally {
    await connection.end();
  }
}

async function removeFrom(server: MysqlServer): Promise<void> {
  const connection = await createConnection({ uri: server.url, connectTimeout: 5_000 });
  try {
    await connection.query(`DROP USER IF EXISTS '${ACCOUNT}'@'%'`);
    for (const schema of [SCHEMA, STATE_SCHEMA]) await connection.query(`DROP DATABASE IF EXISTS ${schema}`);
  } finally {
    await connection.end();
  }
}

async function removeKeys(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 });
  redis.on("error", () => undefined);
  try {
    for await (const keys of redis.scanStream({ match: `${prefix}:*`, count: 1_000 })) {
      if ((keys as string[]).length > 0) await redis.unlink(keys as string[]);
    }
  } finally {
    redis.disconnect();
  }
}
