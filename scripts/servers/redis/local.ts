/** A Redis or Valkey server as a process of this machine, in a folder of its own. */
import { rm } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";

import { ServerChild } from "../child.js";
import type { Command } from "../command.js";
import { freePort } from "../port.js";
import type { RedisOptions, RedisServer } from "../server.js";
import type { Workspace } from "../workspace.js";

const portAttempts = 5;
const probeLimitMs = 2_000;

/** What BullMQ needs (it must never lose a key to eviction), and data that outlive a restart. */
export const redisSettings = ["--maxmemory-policy", "noeviction", "--appendonly", "yes", "--save", ""];

export class LocalRedis implements RedisServer {
  readonly host = "127.0.0.1";
  readonly #child: ServerChild;
  readonly #folder: string;
  #closed = false;

  private constructor(
    readonly port: number,
    folder: string,
    child: ServerChild,
  ) {
    this.#folder = folder;
    this.#child = child;
  }

  static async open(command: Command, workspace: Workspace, options: RedisOptions): Promise<LocalRedis> {
    const name = options.name ?? "redis";
    const folder = await workspace.serverFolder(name);
    for (let attempt = 1; ; attempt++) {
      const port = await freePort();
      const child = new ServerChild({
        name,
        command,
        args: ["--bind", "127.0.0.1", "--port", String(port), "--dir", folder, "--daemonize", "no", ...redisSettings],
        folder,
        logFile: join(folder, "log"),
        watchdog: workspace.watchdog,
        probe: () => ping(port),
      });
      try {
        await child.start();
      } catch (error) {
        if (attempt < portAttempts && /address already in use/i.test(String(error))) continue;
        throw error;
      }
      return new LocalRedis(port, folder, child);
    }
  }

  get url(): string {
    return `redis://${this.host}:${this.port}`;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  stop(): Promise<void> {
    return this.#child.stop();
  }

  kill(): Promise<void> {
    return this.#child.kill();
  }

  async start(): Promise<void> {
    if (this.#closed) throw new Error("the Redis server is closed and its data deleted");
    await this.#child.start();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#child.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** A bare PING: a client library would bring its own ideas of reconnecting. While it loads its data, Redis answers -LOADING. */
function ping(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.setTimeout(probeLimitMs, () => socket.destroy(new Error("no answer to PING")));
    socket.once("error", reject);
    socket.once("connect", () => socket.write("PING\r\n"));
    socket.once("close", () => reject(new Error("closed before an answer to PING")));
    socket.once("data", (data) => {
      const answer = data.toString();
      socket.destroy();
      if (answer.startsWith("+PONG")) resolve();
      else reject(new Error(answer.trim()));
    });
  });
}
