/** The tail's decision on a statement, with a stub of the state: what needs no server. */
import { describe, expect, it } from "vitest";
import { parseMigrationSpec } from "../../../src/shared/contracts/spec.js";
import { Position } from "../../../src/shared/mysql/position.js";
import type { MigrationTable } from "../../../src/shared/state/tables.js";
import type { BinlogStatement } from "../../../src/workers/binlog/events.js";
import type { EngineContext } from "../../../src/workers/context.js";
import { createStatementPolicy } from "../../../src/workers/ddl/index.js";
import { FollowedTables } from "../../../src/workers/tail/followed-tables.js";

const UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562";

function table(name: string, seen = false): MigrationTable {
  return {
    number: 1, source: { schema: "shop", table: name }, target: { schema: "shop", table: name }, where: null, startPosition: seen ? `${UUID}:1-100` : `${UUID}:1-5`, phase: "copied", planned: true,
    plannedTo: null, lastKey: null, noKeyMark: null, deferredIndexes: [], overlay: false, generation: 0, copiedPosition: null, rowsEstimated: 0,
    definition: { schema: "shop", table: name, engine: "InnoDB", columns: [], indexes: [], key: null, createStatement: "", rowsEstimated: 0, rowBytesEstimated: 0 },
  };
}

interface Setting {
  phase?: string;
  ddl?: "apply" | "stop" | "ignore";
  ignoreCase?: boolean;
  tables?: MigrationTable[];
}

async function decide(sql: string, setting: Setting = {}): Promise<string> {
  const spec = parseMigrationSpec({ id: "m", source: "SRC", target: "DST", tables: [{ schema: "shop", exclude: ["tmp_*"] }], options: { ddl: setting.ddl ?? "apply" } });
  const migration = { id: "m", spec, phase: setting.phase ?? "streaming" };
  const context = {
    connections: { use: (_name: string, _role: string, _signal: AbortSignal, work: (session: unknown) => unknown) => Promise.resolve(work({})) },
    state: { migrations: { require: () => Promise.resolve(migration) } },
  } as unknown as EngineContext;
  const tables = new FollowedTables(setting.tables ?? [table("orders"), { ...table("lines", true), number: 2 }], Position.parse(`${UUID}:1-9`), { ignoreCase: setting.ignoreCase ?? false, collations: new Map() }, () => undefined);
  tables.beginTransaction(`${UUID}:10`);
  const statement: BinlogStatement = {
    sql: Buffer.from(sql), schema: "shop", clientCollation: 255, connectionCollation: 255, serverCollation: 255, sqlMode: 0n, timestamp: "0", timeZone: null, utf8mb4Collation: 255, explicitDefaults: null, withRows: false,
  };
  return await createStatementPolicy().decide(statement, { context, spec, ref: { migration: "m", target: "DST" }, tables, gtid: `${UUID}:10` }, new AbortController().signal);
}

describe("the policy while streaming", () => {
  it.each([
    "ALTER TABLE orders ADD c INT", "ALTER TABLE `shop`.`orders` ADD c INT", "CREATE TABLE new (id INT)", "DROP TABLE other.x, orders", "TRUNCATE orders", "RENAME TABLE orders TO other.x", "RENAME TABLE other.x TO y",
    "ALTER TABLE other.x RENAME TO shop.y", "CREATE INDEX i ON orders (a)", "DROP DATABASE shop", "ALTER DATABASE shop CHARACTER SET latin1", "RENAME TABLE tmp_x TO y", "ALTER TABLE tmp_x EXCHANGE PARTITION p WITH TABLE orders",
  ])("a barrier: %s", async (sql) => {
    expect(await decide(sql)).toBe("barrier");
  });

  it.each([
    "ALTER TABLE other.orders ADD c INT", "CREATE TABLE other.x (id INT)", "CREATE TABLE tmp_x LIKE orders", "DROP TABLE tmp_x", "TRUNCATE other.orders", "RENAME TABLE tmp_a TO tmp_b", "DROP DATABASE other", "ALTER DATABASE other CHARACTER SET latin1",
    "ALTER DATABASE shop READ ONLY=1", "INSERT INTO other.x SELECT * FROM orders", "UPDATE tmp_x SET a=1", "CREATE TABLE IF NOT EXISTS orders (id INT)", "GRANT ALL ON *.* TO u", "CREATE VIEW v AS SELECT * FROM orders",
    // Definitions that are newer than the statement.
    "ALTER TABLE lines ADD c INT", "DROP TABLE lines", "TRUNCATE lines", "ALTER TABLE Orders ADD c INT",
  ])("ignored: %s", async (sql) => {
    expect(await decide(sql)).toBe("ignore");
  });

  it.each([
    ["UPDATE orders SET a='secret'", /changes rows of shop.orders in statement format/],
    ["SELECT f('secret')", /cannot be classified: there is SELECT at byte 0/],
    ["ALTER TABLE orders UNION=(a,b)", /has UNION in a statement on shop.orders/],
  ])("stops: %s", async (sql, message) => {
    await expect(decide(sql)).rejects.toThrow(message);
    await expect(decide(sql)).rejects.toMatchObject({ code: "DDL_UNSUPPORTED" });
    await expect(decide(sql)).rejects.not.toThrow(/secret/);
  });
});

it("names without case are followed without case", async () => {
  expect(await decide("ALTER TABLE Orders ADD c INT", { ignoreCase: true })).toBe("barrier");
});

it("options.ddl: stop and ignore", async () => {
  await expect(decide("ALTER TABLE orders ADD c INT", { ddl: "stop" })).rejects.toThrow(/is DDL on shop.orders, and the migration stops at DDL/);
  expect(await decide("ALTER TABLE tmp_x ADD c INT", { ddl: "stop" })).toBe("ignore");
  expect(await decide("ALTER TABLE orders ADD c INT", { ddl: "ignore" })).toBe("ignore");
  await expect(decide("DELETE FROM orders", { ddl: "ignore" })).rejects.toThrow(/statement format/);
});

it("a tail of a paused migration ends", async () => {
  expect(await decide("ALTER TABLE orders ADD c INT", { phase: "paused" })).toBe("restarted");
});
