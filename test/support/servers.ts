/**
 * vitest's global setup: a source MySQL, a target MySQL and a Redis for the whole run. Tests reach them through
 * `testContext()`; a test that stops or kills a server opens its own by `openServers()`.
 */
import type { TestProject } from "vitest/node";

import { openServers } from "../../scripts/servers/index.js";
import type { Servers } from "../../scripts/servers/index.js";

/** MySQL URLs are of users with all privileges. */
export interface ServerUrls {
  source: string;
  target: string;
  redis: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    servers: ServerUrls;
  }
}

interface Shared {
  servers: Servers;
  urls: ServerUrls;
}

/** Each vitest project loads this file anew; what they share can only lie outside of it. */
const place = globalThis as typeof globalThis & { droverTestServers?: { opened: Promise<Shared>; users: number } };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = (place.droverTestServers ??= { opened: open(), users: 0 });
  shared.users++;
  project.provide("servers", (await shared.opened).urls);
  return async () => {
    if (--shared.users > 0) return;
    delete place.droverTestServers;
    await (await shared.opened).servers.close();
  };
}

async function open(): Promise<Shared> {
  const servers = await openServers({ log: (line) => console.error(`servers: ${line}`) });
  try {
    // a killed server keeps what it handed to the kernel, so tests of kill -9 do not need these syncs, and hundreds of small
    // transactions are much faster without them
    const config = { innodb_flush_log_at_trx_commit: 2, sync_binlog: 0 };
    const [source, target, redis] = await Promise.all([
      servers.mysql({ name: "source", config }),
      servers.mysql({ name: "target", config }),
      servers.redis(),
    ]);
    console.error(`servers: ${servers.how}`);
    return { servers, urls: { source: source.url, target: target.url, redis: redis.url } };
  } catch (error) {
    await servers.close();
    throw error;
  }
}
