/** Brings up servers by the first way that this machine offers. */
import type { Log, MysqlServer, RedisServer, Servers } from "./server.js";
import { chooseWay } from "./ways/choose.js";
import { debianWay } from "./ways/debian.js";
import { dockerWay } from "./ways/docker.js";
import { environmentWay } from "./ways/environment.js";
import { pathWay } from "./ways/path.js";
import type { Kind, Way, WayContext } from "./ways/way.js";
import { Workspace } from "./workspace.js";

const ways: Way[] = [environmentWay, dockerWay, pathWay, debianWay];

export interface OpenServersOptions {
  /** Told about what takes long: downloads, unpacking, initialising. */
  log?: Log;
}

/**
 * Starts nothing yet: each server is started when asked for. All are ended, and their folders removed, by `close()`, or by
 * a watchdog when this process is gone, however it went.
 */
export async function openServers(options: OpenServersOptions = {}): Promise<Servers> {
  const log = options.log ?? (() => {});
  let workspace: Promise<Workspace> | undefined;
  const context: WayContext = { workspace: () => (workspace ??= Workspace.open()), log };
  const openers = new Map<Kind, Promise<{ what: string }>>();
  const chosen = new Map<Kind, string>();
  const open = new Set<MysqlServer | RedisServer>();

  /** The same answer for every later call, and for calls at the same time. */
  const opener = <T extends { what: string }>(kind: Kind, ask: (way: Way) => Promise<T>): Promise<T> => {
    const known = openers.get(kind) ?? chooseWay(kind, ways, ask);
    openers.set(kind, known);
    void known.then(({ what }) => chosen.set(kind, what)).catch(() => openers.delete(kind));
    return known as Promise<T>;
  };

  const close = async (): Promise<void> => {
    // a server that does not end is the watchdog's, who comes last and kills
    const results = await Promise.allSettled([...open].map((server) => server.close()));
    open.clear();
    await (await workspace)?.close();
    workspace = undefined;
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  };

  return {
    async mysql(asked) {
      const flavor = asked.flavor ?? "mysql";
      const { open: start } = await opener(flavor, (way) => way.mysql(flavor, context));
      const server = await start(asked);
      open.add(server);
      return server;
    },
    async redis(asked = {}) {
      const { open: start } = await opener("redis", (way) => way.redis(context));
      const server = await start(asked);
      open.add(server);
      return server;
    },
    get how() {
      const parts = [...chosen].map(([kind, what]) => `${kind}: ${what}`);
      return parts.length === 0 ? "no server started yet" : parts.join("; ");
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
