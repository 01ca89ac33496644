/**
 * Containers, through testcontainers, where an engine answers. Its library is loaded only then. This way could not be run
 * where it was written (no engine there): it is checked by the compiler alone.
 */
import { randomBytes, randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { request } from "node:http";
import type { RequestOptions } from "node:http";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { createConnection } from "mysql2/promise";
import type { RowDataPacket } from "mysql2/promise";
import type { StartedTestContainer } from "testcontainers";

import { optionArguments, serverConfig } from "../mysql/options.js";
import { freePort } from "../port.js";
import { redisSettings } from "../redis/local.js";
import type { Flavor, MysqlOptions, MysqlServer, RedisServer, ServerControl } from "../server.js";
import type { MysqlOpener, RedisOpener, Way } from "./way.js";

const pingLimitMs = 1_500;
const answerLimitMs = 120_000;

const images: Record<Flavor | "redis", string> = {
  mysql: process.env["DROVER_TEST_MYSQL_IMAGE"] ?? "mysql:lts",
  mariadb: process.env["DROVER_TEST_MARIADB_IMAGE"] ?? "mariadb:lts",
  redis: process.env["DROVER_TEST_REDIS_IMAGE"] ?? "redis:8",
};

export const dockerWay: Way = {
  name: "Docker",

  async mysql(flavor, { log }): Promise<MysqlOpener> {
    await prepare(images[flavor], log);
    return { what: `Docker image ${images[flavor]}`, open: (options) => openMysql(flavor, options) };
  },

  async redis({ log }): Promise<RedisOpener> {
    await prepare(images.redis, log);
    return { what: `Docker image ${images.redis}`, open: () => openRedis() };
  },
};

/** Finds the engine and pulls the image here, so that a machine that cannot pull goes on to the next way. */
async function prepare(image: string, log: (line: string) => void): Promise<void> {
  const asked: string[] = [];
  for (const engine of engines()) {
    const name = engine.socketPath ?? `${engine.host}:${engine.port}`;
    if (await answers(engine)) {
      const { getContainerRuntimeClient, ImageName } = await import("testcontainers");
      const client = await getContainerRuntimeClient();
      const parsed = ImageName.fromString(image);
      if (!(await client.image.exists(parsed))) {
        log(`pulling Docker image ${image}`);
        await client.image.pull(parsed);
      }
      return;
    }
    asked.push(String(name));
  }
  throw new Error(asked.length === 0 ? "no engine: no DOCKER_HOST and no socket" : `no engine answers at ${asked.join(", ")}`);
}

/** Where testcontainers looks, too; but it takes long to say no. */
function engines(): RequestOptions[] {
  const host = process.env["DOCKER_HOST"];
  if (host !== undefined && host !== "") {
    if (host.startsWith("unix://")) return [{ socketPath: host.slice("unix://".length) }];
    const url = new URL(host);
    return [{ host: url.hostname, port: Number(url.port || 2375) }];
  }
  const sockets = [
    "/var/run/docker.sock",
    join(homedir(), ".docker/run/docker.sock"),
    join(homedir(), ".docker/desktop/docker.sock"),
    join(process.env["XDG_RUNTIME_DIR"] ?? `/run/user/${process.getuid?.() ?? 0}`, "docker.sock"),
  ];
  return sockets.filter((path) => existsSync(path)).map((socketPath) => ({ socketPath }));
}

/** Any HTTP answer will do: an engine behind TLS says 400 to plain HTTP. */
function answers(engine: RequestOptions): Promise<boolean> {
  return new Promise((resolve) => {
    const ping = request({ ...engine, path: "/_ping", timeout: pingLimitMs }, (response) => {
      response.resume();
      resolve(true);
    });
    ping.once("timeout", () => ping.destroy());
    ping.once("error", () => resolve(false));
    ping.once("close", () => resolve(false));
    ping.end();
  });
}

async function openMysql(flavor: Flavor, options: MysqlOptions): Promise<MysqlServer> {
  const { GenericContainer } = await import("testcontainers");
  const password = randomBytes(12).toString("hex");
  const port = await freePort();
  const config = serverConfig(flavor, options.serverId ?? randomInt(1, 2 ** 31), options.config ?? {});
  const container = await new GenericContainer(images[flavor])
    // the image's own root is the one account that holds every privilege with GRANT OPTION
    .withEnvironment({
      MYSQL_ROOT_PASSWORD: password,
      MYSQL_ROOT_HOST: "%",
      MARIADB_ROOT_PASSWORD: password,
      MARIADB_ROOT_HOST: "%",
    })
    .withCommand(optionArguments(config))
    // a fixed port of the host, since a restarted container would get another one
    .withExposedPorts({ container: 3306, host: port })
    .start();
  const endpoint = { host: container.getHost(), port, user: "root", password };
  // while the image initialises, its server listens on a socket alone, so a TCP login means the final one
  const version = await retry(async () => {
    const connection = await createConnection({ ...endpoint, connectTimeout: 5_000 });
    try {
      const [rows] = await connection.query<RowDataPacket[]>("SELECT VERSION() AS version");
      return String(rows[0]?.["version"]);
    } finally {
      await connection.end();
    }
  });
  const login = async (): Promise<void> => {
    await retry(async () => (await createConnection({ ...endpoint, connectTimeout: 5_000 })).end());
  };
  return {
    ...endpoint,
    name: options.name,
    flavor,
    version,
    url: `mysql://root:${password}@${endpoint.host}:${port}/`,
    ...control(container, login),
  };
}

async function openRedis(): Promise<RedisServer> {
  const { GenericContainer } = await import("testcontainers");
  const port = await freePort();
  const container = await new GenericContainer(images.redis)
    .withCommand(["redis-server", ...redisSettings])
    .withExposedPorts({ container: 6379, host: port })
    .start();
  const host = container.getHost();
  const answer = async (): Promise<void> => {
    await retry(async () => {
      const { exitCode } = await container.exec(["redis-cli", "ping"]);
      if (exitCode !== 0) throw new Error("no answer to PING");
    });
  };
  await answer();
  return { host, port, url: `redis://${host}:${port}`, ...control(container, answer) };
}

/** By the engine's own API: testcontainers' stop() removes the container, and its data with it. */
function control(container: StartedTestContainer, ready: () => Promise<void>): ServerControl {
  const engine = async () => {
    const { getContainerRuntimeClient } = await import("testcontainers");
    return (await getContainerRuntimeClient()).container.getById(container.getId());
  };
  return {
    stop: async () => void (await (await engine()).stop({ t: 60 })),
    kill: async () => void (await (await engine()).kill({ signal: "SIGKILL" })),
    start: async () => {
      await (await engine()).start();
      await ready();
    },
    close: async () => void (await container.stop({ timeout: 0 })),
  };
}

async function retry<T>(attempt: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + answerLimitMs; ;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(200);
    }
  }
}
