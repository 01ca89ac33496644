/** A schema of its own on the test run's servers, for the tests of columns and keys. `COLUMNS_TEST_URL` names another server (MariaDB, say). */
import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { openSession } from "../../src/shared/mysql/open-session.js";
import { parseServerUrl } from "../../src/shared/mysql/server-address.js";
import type { ByteSql } from "../../src/shared/mysql/bytes.js";
import type { MysqlSession } from "../../src/shared/mysql/mysql-session.js";
import type { Session } from "../../src/shared/mysql/session.js";

export interface TestSchema extends AsyncDisposable {
  schema: string;
  /** A session with a target's settings that uses the schema; destroyed by `using`. */
  open(): Promise<MysqlSession & Disposable>;
}

export async function testSchema(): Promise<TestSchema> {
  const address = parseServerUrl("TEST", process.env["COLUMNS_TEST_URL"] ?? inject("servers").source);
  const schema = `columns_${randomBytes(5).toString("hex")}`;
  const ending = new AbortController();
  const connect = () => openSession(address, { role: "target", signal: ending.signal, worker: "test", deployment: "test" });
  const once = async (statement: string) => {
    const session = await connect();
    await session.run(statement as ByteSql);
    session.destroy();
  };
  await once(`CREATE DATABASE ${schema} CHARACTER SET utf8mb4`);
  return {
    schema,
    async open() {
      const session = await connect();
      await session.run(`USE ${schema}` as ByteSql);
      return Object.assign(session, { [Symbol.dispose]: () => session.destroy() });
    },
    async [Symbol.asyncDispose]() {
      await once(`DROP DATABASE ${schema}`);
      ending.abort();
    },
  };
}

/** All rows of a SELECT as copies. */
export async function textRows(session: Session, statement: ByteSql): Promise<Buffer[]> {
  const rows: Buffer[] = [];
  await session.readRows(statement, (buffer, start, end) => void rows.push(Buffer.from(buffer.subarray(start, end))));
  return rows;
}
