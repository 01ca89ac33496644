/**
 * Servers that somebody else runs: DROVER_TEST_MYSQL_URLS (comma separated, one per server that a program asks for),
 * DROVER_TEST_MARIADB_URLS and DROVER_TEST_REDIS_URL. They are used as they are: their options must fit already, and
 * their user must hold all privileges.
 */
import { createConnection } from "mysql2/promise";
import type { RowDataPacket } from "mysql2/promise";

import type { Flavor, Log, MysqlOptions, MysqlServer, RedisServer, ServerControl } from "../server.js";
import type { MysqlOpener, RedisOpener, Way } from "./way.js";

const variables = { mysql: "DROVER_TEST_MYSQL_URLS", mariadb: "DROVER_TEST_MARIADB_URLS", redis: "DROVER_TEST_REDIS_URL" };

export const environmentWay: Way = {
  name: "environment",

  async mysql(flavor, { log }): Promise<MysqlOpener> {
    const urls = split(variables[flavor]);
    let used = 0;
    return {
      what: `${urls.length} endpoints in ${variables[flavor]}`,
      open: async (options) => {
        const url = urls[used++];
        if (url === undefined) {
          throw new Error(`${variables[flavor]} names ${urls.length} servers, and one more is needed for "${options.name}"`);
        }
        return openMysql(flavor, url, options, log);
      },
    };
  },

  async redis(): Promise<RedisOpener> {
    const url = new URL(split(variables.redis)[0] ?? "");
    const server: RedisServer = {
      host: url.hostname,
      port: Number(url.port || 6379),
      url: url.href,
      ...refuse(variables.redis),
    };
    return { what: `the endpoint in ${variables.redis}`, open: async () => server };
  },
};

async function openMysql(flavor: Flavor, text: string, options: MysqlOptions, log: Log): Promise<MysqlServer> {
  const url = new URL(text);
  const server = {
    name: options.name,
    flavor,
    host: url.hostname,
    port: Number(url.port || 3306),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    url: text.endsWith("/") ? text : `${text}/`,
  };
  if (options.config !== undefined || options.serverId !== undefined) {
    log(
      `${options.name} is given by ${variables[flavor]}: these options of it are not set: ${JSON.stringify(options.config ?? {})}`,
    );
  }
  const { host, port, user, password } = server;
  const connection = await createConnection({ host, port, user, password, connectTimeout: 10_000 });
  try {
    const [rows] = await connection.query<RowDataPacket[]>("SELECT VERSION() AS version");
    return { ...server, version: String(rows[0]?.["version"]), ...refuse(variables[flavor]) };
  } finally {
    await connection.end();
  }
}

function refuse(variable: string): ServerControl {
  const no = async (): Promise<never> => {
    throw new Error(`the server is given by ${variable}: it is not ours to stop or start`);
  };
  return { stop: no, kill: no, start: no, close: async () => {} };
}

function split(variable: string): string[] {
  const urls = (process.env[variable] ?? "")
    .split(",")
    .map((url) => url.trim())
    .filter((url) => url !== "");
  if (urls.length === 0) throw new Error(`${variable} is not set`);
  return urls;
}
