/** What transactions look like in the binlog, and what stops the stream (cases 26, 35–38, 40). On a server of its own: the settings are global. */
import type { Connection, ResultSetHeader, RowDataPacket } from "mysql2/promise";
import { createConnection } from "mysql2/promise";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openServers } from "../../scripts/servers/index.js";
import type { MysqlServer, Servers } from "../../scripts/servers/index.js";
import { DroverError } from "../../src/shared/errors.js";
import { Recorder, type RecorderOptions } from "./binlog-recorder.js";

let servers: Servers;
let server: MysqlServer;
let client: Connection;
let run = 0;
let schema = "";

beforeAll(async () => {
  servers = await openServers({});
  server = await servers.mysql({ name: "binlog", config: { innodb_flush_log_at_trx_commit: 2, sync_binlog: 0 } });
}, 60_000);
afterAll(async () => {
  await servers.close();
});

beforeEach(async () => {
  schema = `b${run++}`;
  client = await createConnection({ host: server.host, port: server.port, user: server.user, password: server.password, multipleStatements: true, charset: "utf8mb4" });
  await client.query(`CREATE DATABASE ${schema}; USE ${schema}; CREATE TABLE marker (id int PRIMARY KEY AUTO_INCREMENT); CREATE TABLE t (id int PRIMARY KEY, v varchar(100), j json)`);
  return async () => client.end();
});

async function follow(options: Partial<RecorderOptions> = {}): Promise<Recorder> {
  const [rows] = await client.query<RowDataPacket[]>("SELECT @@gtid_executed AS position");
  return await Recorder.open({ server, position: rows[0]?.["position"], schema, ...options });
}

async function caughtUp(recorder: Recorder): Promise<void> {
  const other = await createConnection({ host: server.host, port: server.port, user: server.user, password: server.password, database: schema });
  try {
    const [result] = await other.query<ResultSetHeader>("INSERT INTO marker VALUES ()");
    await recorder.until(() => recorder.rowsOf("marker").some(({ cells }) => cells?.[0] === String(result.insertId)));
  } finally {
    await other.end();
  }
}

/** What the stream ends with. */
async function stop(recorder: Recorder): Promise<DroverError> {
  const error: unknown = await Promise.race([
    recorder.stream.ended.then(
      () => new Error("the stream ended well"),
      (thrown: unknown) => thrown,
    ),
    new Promise((resolve) => setTimeout(() => resolve(new Error("the stream went on")), 5000).unref()),
  ]);
  expect(error).toBeInstanceOf(DroverError);
  return error as DroverError;
}

const changes = (recorder: Recorder, table = "t") => recorder.rowsOf(table).map(({ beforeKey, afterKey, cells }) => [beforeKey?.slice(1) ?? null, afterKey?.slice(1) ?? null, cells?.[1] ?? null]);

describe("transactions", () => {
  it("of inserts, updates with and without a change of the key, and deletes", async () => {
    await using recorder = await follow();
    await client.query("BEGIN; INSERT INTO t (id, v) VALUES (1,'a'),(2,'b'); UPDATE t SET v='c' WHERE id=1; UPDATE t SET id=3 WHERE id=2; DELETE FROM t WHERE id=1; COMMIT");
    await caughtUp(recorder);
    expect(changes(recorder)).toEqual([[null, "1", "a"], [null, "2", "b"], ["1", "1", "c"], ["2", "3", "b"], ["1", null, null]]);
    const [transaction] = recorder.transactions;
    expect(transaction?.rows.length).toBe(5);
    expect(transaction?.gtid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+$/);
    expect(Math.abs((transaction?.committedAt ?? 0) - Date.now())).toBeLessThan(20_000);
  });

  it("with a tagged GTID (case 40)", async () => {
    await using recorder = await follow();
    await client.query("SET gtid_next='AUTOMATIC:some_tag'; INSERT INTO t (id, v) VALUES (1,'a'); SET gtid_next='AUTOMATIC'");
    await client.query("SET gtid_next='AUTOMATIC:another'; CREATE TABLE tagged (id int PRIMARY KEY); SET gtid_next='AUTOMATIC'");
    await caughtUp(recorder);
    const [rows] = await client.query<RowDataPacket[]>("SELECT @@server_uuid AS uuid");
    expect(recorder.transactions.slice(0, 2).map(({ gtid }) => gtid)).toEqual([`${rows[0]?.["uuid"]}:some_tag:1`, `${rows[0]?.["uuid"]}:another:1`]);
    expect(changes(recorder)).toEqual([[null, "1", "a"]]);
    expect(Math.abs((recorder.transactions[0]?.committedAt ?? 0) - Date.now())).toBeLessThan(20_000);
    // And goes on from a position with tags.
    await using second = await follow();
    await client.query("INSERT INTO t (id, v) VALUES (2,'b')");
    await caughtUp(second);
    expect(changes(second)).toEqual([[null, "2", "b"]]);
  });

  it("with savepoints: what was rolled back is not there (case 40)", async () => {
    await using recorder = await follow();
    await client.query("BEGIN; INSERT INTO t (id) VALUES (1); SAVEPOINT `a b`; INSERT INTO t (id) VALUES (2); ROLLBACK TO `a b`; SAVEPOINT c; INSERT INTO t (id) VALUES (3); RELEASE SAVEPOINT c; COMMIT");
    await client.query("BEGIN; INSERT INTO t (id) VALUES (4); ROLLBACK");
    await caughtUp(recorder);
    expect(changes(recorder)).toEqual([[null, "1", null], [null, "3", null]]);
    expect(recorder.transactions.flatMap(({ statements }) => statements)).toEqual([]);
  });

  it("that are compressed, also when the payload is large (case 35)", async () => {
    await using recorder = await follow();
    await client.query("SET SESSION binlog_transaction_compression=ON");
    await client.query("BEGIN; INSERT INTO t (id, v) VALUES (1,'a'); UPDATE t SET v='b'; COMMIT");
    await client.query("INSERT INTO t (id, v) WITH RECURSIVE n AS (SELECT 10 i UNION ALL SELECT i+1 FROM n WHERE i < 1000) SELECT i, repeat(sha2(i, 256), 1) FROM n");
    await client.query("SET SESSION cte_max_recursion_depth=100000; INSERT INTO t (id, v) WITH RECURSIVE n AS (SELECT 2000 i UNION ALL SELECT i+1 FROM n WHERE i < 40000) SELECT i, 'x' FROM n");
    await client.query("UPDATE t SET v='y' WHERE id > 30000");
    await client.query("SET SESSION binlog_transaction_compression=OFF; INSERT INTO t (id, v) VALUES (2, 'last')");
    await caughtUp(recorder);
    expect(recorder.transactions.slice(0, 5).map(({ rows }) => rows.length)).toEqual([2, 991, 38001, 10000, 1]);
    expect(changes(recorder).at(-1)).toEqual([null, "2", "last"]);
    expect(changes(recorder).filter(([, key]) => key === "30001")).toEqual([[null, "30001", "x"], ["30001", "30001", "y"]]);
  });

  it("of XA: committed in one phase they are ordinary ones (case 40)", async () => {
    await using recorder = await follow();
    await client.query("XA START 'a'; INSERT INTO t (id, v) VALUES (1,'a'); XA END 'a'; XA COMMIT 'a' ONE PHASE");
    await caughtUp(recorder);
    expect(changes(recorder)).toEqual([[null, "1", "a"]]);
  });

  it("of XA in two phases on other tables do not stop the stream (case 40)", async () => {
    await client.query("CREATE TABLE other (id int PRIMARY KEY)");
    await using recorder = await follow({ want: ({ table, columns }) => (table === "other" || columns.length === 0 ? null : { columns: columns.map((_, i) => i), keyCells: [0] }) });
    await client.query("XA START 'x','y',7; INSERT INTO other VALUES (1); XA END 'x','y',7; XA PREPARE 'x','y',7; XA COMMIT 'x','y',7");
    await client.query("XA START 'z'; INSERT INTO other VALUES (2); XA END 'z'; XA PREPARE 'z'; XA ROLLBACK 'z'");
    await client.query("INSERT INTO t (id) VALUES (1)");
    await caughtUp(recorder);
    expect(changes(recorder)).toEqual([[null, "1", null]]);
    expect(recorder.transactions.flatMap(({ statements }) => statements)).toEqual([]);
  });

  it("of XA in two phases on followed tables stop the stream at XA PREPARE (case 40)", async () => {
    await using recorder = await follow();
    await client.query("XA START 'x'; INSERT INTO t (id, v) VALUES (1, 'secret'); XA END 'x'; XA PREPARE 'x'; XA COMMIT 'x'");
    const error = await stop(recorder);
    expect(error.code).toBe("DDL_UNSUPPORTED");
    expect(error.message).toMatch(/XA PREPARE.*transaction [0-9a-f-]+:\d+/);
    expect(error.message + error.cure).not.toContain("secret");
    expect(recorder.transactions).toEqual([]);
  });
});

describe("statements", () => {
  it("DDL comes alone, with its schema, charset and sql_mode", async () => {
    await using recorder = await follow();
    await client.query("SET NAMES latin1; SET SESSION sql_mode='ANSI_QUOTES'");
    await client.query("CREATE TABLE u (id int PRIMARY KEY, n int COMMENT 'x')");
    await client.query("ALTER TABLE u ADD COLUMN m int, DROP COLUMN n");
    await client.query("RENAME TABLE u TO w; TRUNCATE TABLE w; DROP TABLE w");
    await caughtUp(recorder);
    const statements = recorder.transactions.flatMap((transaction) => transaction.statements);
    expect(statements.map(({ sql }) => sql.toString().replace(/ \/\*.*$/, ""))).toEqual([
      "CREATE TABLE u (id int PRIMARY KEY, n int COMMENT 'x')", "ALTER TABLE u ADD COLUMN m int, DROP COLUMN n", "RENAME TABLE u TO w", "TRUNCATE TABLE w", 'DROP TABLE "w"',
    ]);
    expect(new Set(statements.map((statement) => statement.schema))).toEqual(new Set([schema]));
    expect(statements[0]).toMatchObject({ clientCollation: 8, sqlMode: 4n });
  });

  it("CREATE TABLE … SELECT is a statement with rows in one transaction; a new table map follows an ALTER", async () => {
    await using recorder = await follow();
    await client.query("CREATE TABLE c (id int PRIMARY KEY) SELECT 7 AS id");
    await client.query("ALTER TABLE c ADD COLUMN n int FIRST; INSERT INTO c VALUES (1, 8)");
    await caughtUp(recorder);
    const [created, altered, inserted] = recorder.transactions;
    expect([created?.statements.length, created?.rows.map(({ cells }) => cells)]).toEqual([1, [["7"]]]);
    expect([altered?.statements.length, altered?.rows.length]).toEqual([1, 0]);
    expect(inserted?.rows.map(({ cells }) => cells)).toEqual([["1", "8"]]);
  });

  it("changes in statement format are handed on (case 35)", async () => {
    await using recorder = await follow();
    await client.query("SET SESSION binlog_format='STATEMENT'; SET @x=5; INSERT INTO t (id, v) VALUES (@x, rand()); BEGIN; UPDATE t SET v='x'; DELETE FROM t; COMMIT");
    await caughtUp(recorder);
    const statements = recorder.transactions.flatMap((transaction) => transaction.statements.map(({ sql }) => sql.toString()));
    expect(statements).toEqual(["INSERT INTO t (id, v) VALUES (@x, rand())", "UPDATE t SET v='x'", "DELETE FROM t"]);
  });
});

describe("columns", () => {
  it("generated and hidden ones keep their ordinals and names", async () => {
    await using recorder = await follow();
    await client.query(`SET SESSION sql_generate_invisible_primary_key=ON;
      CREATE TABLE hidden (a int, v int GENERATED ALWAYS AS (a+1) VIRTUAL, s int GENERATED ALWAYS AS (a+2) STORED, i int INVISIBLE DEFAULT 5, j json, b varchar(20),
        KEY f ((upper(b))), KEY m ((CAST(j->'$.x' AS UNSIGNED ARRAY))), KEY g ((a * 2)), z int);
      INSERT INTO hidden (a, j, b, z) VALUES (1, '{"x": [1,2]}', 'bb', 9); UPDATE hidden SET a=2; DELETE FROM hidden`);
    await caughtUp(recorder);
    const table = recorder.tables.find((found) => found.table === "hidden");
    const rows = recorder.rowsOf("hidden");
    const named = (cells: (string | null)[] | null | undefined) => Object.fromEntries((table?.columns ?? []).map(({ name }, i) => [name, cells?.[i]]));
    const visible = { a: "1", v: "2", s: "3", i: "5", j: '{"x": [1, 2]}', b: "bb", z: "9" };
    expect(named(rows[0]?.cells)).toMatchObject({ my_row_id: "1", ...visible });
    expect(named(rows[1]?.cells)).toMatchObject({ my_row_id: "1", ...visible, a: "2", v: "3", s: "4" });
    expect(rows[2]).toMatchObject({ beforeKey: "\x011", afterKey: null });
  });

  it("are taken in the wanted order, with keys of several columns that stand apart", async () => {
    await using recorder = await follow({ want: ({ table, columns }) => (columns.length < 4 ? (table === "marker" ? { columns: [0], keyCells: [0] } : null) : { columns: [3, 0, 1], keyCells: [2, 0] }) });
    await client.query("CREATE TABLE o (a int, b char(3), c mediumblob, d decimal(5,2), PRIMARY KEY (b, d)); INSERT INTO o VALUES (1, 'k', repeat('x', 70000), 1.5); UPDATE o SET a=2, b='l'; UPDATE o SET a=NULL; DELETE FROM o");
    await caughtUp(recorder);
    expect(recorder.rowsOf("o").map(({ beforeKey, afterKey, cells }) => [beforeKey, afterKey, cells])).toEqual([
      [null, "\x01k\x041.50", ["1.50", "1", "k"]],
      ["\x01k\x041.50", "\x01l\x041.50", ["1.50", "2", "l"]],
      ["\x01l\x041.50", "\x01l\x041.50", ["1.50", null, "l"]],
      ["\x01l\x041.50", null, null],
    ]);
  });

  it("more than 250 of them, and rows of many events", async () => {
    await using recorder = await follow();
    await client.query(`CREATE TABLE many (id int PRIMARY KEY, ${Array.from({ length: 400 }, (_, i) => `c${i} int`).join(",")}); INSERT INTO many (id, c0, c7, c399) VALUES (1, 2, 3, 4)`);
    await caughtUp(recorder);
    const cells = recorder.rowsOf("many")[0]?.cells;
    expect([cells?.length, cells?.[0], cells?.[1], cells?.[2], cells?.[8], cells?.[400]]).toEqual([401, "1", "2", null, "3", "4"]);
  });
});

describe("what cannot be followed stops the stream, and only when it concerns us", () => {
  const settings: [name: string, sql: string, message: RegExp, cure: string][] = [
    ["a minimal row image", "SET SESSION binlog_row_image=MINIMAL; UPDATE t SET v='secret'", /row image of \S+\.t does not have the column/, "binlog_row_image=FULL"],
    ["partial JSON", "SET SESSION binlog_row_value_options=PARTIAL_JSON; UPDATE t SET j=json_set(j, '$.a', 'secret')", /\.t is in the binlog as a partial update/, "binlog_row_value_options"],
  ];
  it.each(settings)("%s (case 35)", async (_name, sql, message, cure) => {
    await client.query(`INSERT INTO t VALUES (1, 'a', '{"a": "long long long long value", "b": "long long long long long value"}')`);
    await using other = await follow({ want: ({ table }) => (table === "marker" ? { columns: [0], keyCells: [0] } : null) });
    await using recorder = await follow();
    await client.query(sql);
    const error = await stop(recorder);
    expect(error).toMatchObject({ code: "UNDECODABLE" });
    expect(error.message).toMatch(message);
    expect(error.message).toMatch(/in transaction [0-9a-f-]{36}:\d+$/);
    expect(error.cure).toContain(cure);
    expect(`${error.message}${error.cure}`).not.toContain("secret");
    await caughtUp(other);
  });

  it("a noblob row image only where a blob is missing (case 35)", async () => {
    await client.query("INSERT INTO t VALUES (1, 'a', '{}')");
    await using recorder = await follow({ want: ({ table, columns }) => (table === "marker" ? { columns: [0], keyCells: [0] } : { columns: columns.map((_, i) => i).slice(0, 2), keyCells: [0] }) });
    await client.query("SET SESSION binlog_row_image=NOBLOB; UPDATE t SET v='b'; DELETE FROM t");
    await caughtUp(recorder);
    expect(changes(recorder)).toEqual([["1", "1", "b"], ["1", null, null]]);
  });

  it("row metadata without names", async () => {
    await using other = await follow({ want: ({ table, columns }) => (table === "marker" && columns.length > 0 ? { columns: [0], keyCells: [0] } : null) });
    await using recorder = await follow();
    await client.query("SET GLOBAL binlog_row_metadata=MINIMAL; INSERT INTO t (id, v) VALUES (1, 'secret'); SET GLOBAL binlog_row_metadata=FULL");
    const error = await stop(recorder);
    expect(error).toMatchObject({ code: "UNDECODABLE" });
    expect(error.message).toMatch(/does not name the columns of \S+\.t, in transaction/);
    expect(error.cure).toContain("binlog_row_metadata=FULL");
    await caughtUp(other);
  });

  it("but not a MyISAM table's statement that failed half way: what it did is in the binlog", async () => {
    await client.query("CREATE TABLE my (id int PRIMARY KEY) ENGINE=MyISAM");
    await using recorder = await follow();
    await client.query("INSERT INTO my VALUES (1)");
    await expect(client.query("INSERT INTO my VALUES (2), (1)")).rejects.toThrow(/Duplicate/);
    await caughtUp(recorder);
    expect(recorder.rowsOf("my").map(({ cells }) => cells)).toEqual([["1"], ["2"]]);
  });

  it("a handler that throws", async () => {
    await using recorder = await follow({ onRow: (row) => { if (row.table === "t") throw new Error("row secret"); } });
    await client.query("INSERT INTO t (id) VALUES (1)");
    const error = await stop(recorder);
    expect(error.code).toBe("BUG");
    expect(error.message).not.toContain("secret");
  });
});
