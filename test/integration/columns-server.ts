/** A real server for the tests of columns and keys: the one at COLUMNS_TEST_URL, or one of their own. */
import { openServers } from "../../scripts/servers/index.js";
import { openSession } from "../../src/shared/mysql/open-session.js";
import { parseServerUrl } from "../../src/shared/mysql/server-address.js";
import type { ByteSql } from "../../src/shared/mysql/bytes.js";
import type { MysqlSession } from "../../src/shared/mysql/mysql-session.js";

export interface TestServer {
  /** A session as the target's, in a fresh schema of a random name; statements may name tables without it. */
  session: MysqlSession;
  schema: string;
  open(): Promise<MysqlSession & Disposable>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function testServer(): Promise<TestServer> {
  const servers = process.env["COLUMNS_TEST_URL"] === undefined ? await openServers({}) : null;
  const url = process.env["COLUMNS_TEST_URL"] ?? (await (servers as NonNullable<typeof servers>).mysql({ name: "columns", config: { max_allowed_packet: "64M" } })).url;
  const ending = new AbortController();
  const schema = `t_${Math.random().toString(36).slice(2, 10)}`;
  const connect = () => openSession(parseServerUrl("TEST", url), { role: "target", signal: ending.signal, worker: "test" });
  const open = async () => {
    const opened = await connect();
    await opened.run(`USE ${schema}` as ByteSql);
    return Object.assign(opened, { [Symbol.dispose]: () => opened.destroy() });
  };
  const session = await connect();
  await session.run(`CREATE DATABASE ${schema} CHARACTER SET utf8mb4` as ByteSql);
  await session.run(`USE ${schema}` as ByteSql);
  return {
    session, schema, open,
    async [Symbol.asyncDispose]() {
      const last = await open();
      await last.run(`DROP DATABASE IF EXISTS ${schema}` as ByteSql);
      ending.abort();
      session.destroy();
      last.destroy();
      await servers?.[Symbol.asyncDispose]();
    },
  };
}
