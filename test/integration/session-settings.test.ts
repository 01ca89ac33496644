/** A server whose defaults, or whose init_connect, are not what the protocol rests on: each session of ours sets its own. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { openServers, type Servers } from "../../scripts/servers/index.js";
import { loadConfig } from "../../src/shared/config.js";
import type { ByteSql } from "../../src/shared/mysql/bytes.js";
import { Connections } from "../../src/shared/mysql/connections.js";
import { PreflightServer } from "./preflight-support.js";

const ODD = ["autocommit=0", "sql_select_limit=2", "sql_safe_updates=1", "sql_big_selects=0", "max_join_size=1", "sql_auto_is_null=1", "unique_checks=0", "sql_quote_show_create=0"];

let servers: Servers;
beforeAll(async () => {
  servers = await openServers();
}, 120_000);
afterAll(async () => servers?.close());

it.each(["mysql", "mariadb"] as const)("%s: statements are committed, results whole, keys unique, whatever the server's defaults are", async (flavor) => {
  const server = await servers.mysql({ name: `odd-${flavor}`, flavor, config: { innodb_buffer_pool_size: "32M" } });
  await using other = await PreflightServer.open(server);
  const own = flavor === "mysql" ? [...ODD, "completion_type=CHAIN", "transaction_read_only=1", "show_gipk_in_create_table_and_information_schema=0"] : [...ODD, "completion_type=CHAIN", "tx_read_only=1"];
  await other.query(`CREATE DATABASE d; CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, u INT UNIQUE); INSERT INTO d.t (u) VALUES (1),(2),(3),(4),(5)`);
  await other.query(`CREATE USER mover IDENTIFIED BY 'm'; GRANT SELECT, INSERT, UPDATE, DELETE, PROCESS ON *.* TO mover; ${own.map((each) => `SET GLOBAL ${each}`).join("; ")}`);
  await other.query(`SET GLOBAL init_connect="SET ${own.map((each) => `SESSION ${each}`).join(", ")}"`);
  const url = other.url("mover", "m");
  const connections = new Connections({ config: loadConfig({ DROVER_REDIS_URL: "redis://127.0.0.1:1", DROVER_CONNECTION_ODD: url }), worker: "w-test" });
  const signal = AbortSignal.timeout(20_000);
  try {
    for (const role of ["source", "target"] as const) {
      await connections.use("ODD", role, signal, async (session) => {
        expect(await session.rows("SELECT id FROM d.t AS a" as ByteSql)).toHaveLength(5);
        expect((await session.rows("SHOW CREATE TABLE d.t" as ByteSql))[0]?.["Create Table"]).toContain("`id`");
        const [open] = await session.rows("SELECT COUNT(*) AS n FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id=CONNECTION_ID()" as ByteSql);
        expect(open?.["n"]).toBe("0");
      });
    }
    await connections.use("ODD", "target", signal, async (session) => {
      await session.run("INSERT INTO d.t (u) VALUES (6)" as ByteSql);
      expect(await session.rows("SELECT id FROM d.t WHERE id IS NULL" as ByteSql)).toEqual([]);
      await session.run("DELETE FROM d.t WHERE u + 0 = 1" as ByteSql);
    });
    expect(await other.query("SELECT COUNT(*) AS n FROM d.t WHERE u IN (1, 6)")).toEqual([{ n: 1 }]);
    await expect(connections.use("ODD", "target", signal, (session) => session.run("INSERT INTO d.t (u) VALUES (6)" as ByteSql))).rejects.toMatchObject({ errno: 1062 });
  } finally {
    connections.close();
  }
});
