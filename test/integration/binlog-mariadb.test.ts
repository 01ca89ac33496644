/** The binlog of MariaDB: positions, types, compressed events, groups. */
import { createConnection, type Connection, type ResultSetHeader, type RowDataPacket } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openServers } from "../../scripts/servers/index.js";
import type { MysqlServer, Servers } from "../../scripts/servers/index.js";
import type { CellFormat } from "../../src/workers/binlog/events.js";
import { seeded } from "./binlog-corpus.js";
import { Recorder, type RecorderOptions } from "./binlog-recorder.js";

let servers: Servers;
let server: MysqlServer;
let client: Connection;

beforeAll(async () => {
  servers = await openServers({});
  server = await servers.mysql({ name: "maria", flavor: "mariadb" });
  client = await createConnection({ host: server.host, port: server.port, user: server.user, password: server.password, multipleStatements: true });
  await client.query("CREATE DATABASE m; USE m; SET SESSION time_zone='+00:00', sql_mode=''; CREATE TABLE marker (id int PRIMARY KEY AUTO_INCREMENT)");
}, 60_000);
afterAll(async () => {
  await client.end();
  await servers.close();
});

async function follow(options: Partial<RecorderOptions> = {}): Promise<Recorder> {
  const [rows] = await client.query<RowDataPacket[]>("SELECT @@gtid_binlog_pos AS position");
  return await Recorder.open({ server, position: rows[0]?.["position"], schema: "m", ...options });
}

async function caughtUp(recorder: Recorder): Promise<void> {
  const [result] = await client.query<ResultSetHeader>("INSERT INTO marker VALUES ()");
  await recorder.until(() => recorder.rowsOf("marker").some(({ cells }) => cells?.[0] === String(result.insertId)));
}

/** Every value of the table by the given expressions, as bytes. */
async function selected(table: string, expressions: string): Promise<(string | null)[][]> {
  const plain = await createConnection({ host: server.host, port: server.port, user: server.user, password: server.password, charset: "BINARY" });
  await plain.query("SET time_zone='+00:00'");
  const [rows] = await plain.query({ sql: `SELECT ${expressions} FROM m.${table} ORDER BY id`, rowsAsArray: true, typeCast: (field) => (field.buffer() as Buffer | null)?.toString("latin1") ?? null });
  await plain.end();
  return rows as unknown as (string | null)[][];
}

describe("MariaDB", () => {
  it("cells are those of SELECT", async () => {
    await client.query(`CREATE TABLE types (id int PRIMARY KEY, y year, u bigint unsigned, f float, d double, de decimal(30,10), b bit(10), v varchar(300) CHARACTER SET utf8mb4, c char(10),
      bi binary(5), e enum('a','b'), s set('x','y'), j json, t time(3), t0 time, dt datetime(6), ts timestamp(2) NULL, da date, bl blob, g geometry)`);
    await using recorder = await follow();
    await client.query(`INSERT INTO types VALUES
      (1, 2024, 18446744073709551615, 1.5, 1e20, -0.1, 5, 'hé', 'ab  ', 'a', 'b', 'x,y', '{"a": [1, 2.5,1e20]}', '-00:00:00.5', '-838:59:59', '2024-01-02 03:04:05.678901', '2024-01-01 00:00:01.25', '2023-02-03', 0x00ff, point(1,2)),
      (2, 0, 0, 0.1, 1e-15, 12345678901234567890.0123456789, 1023, '', '', '', 0, 0, '[]', '838:59:58.999', 0, 0, 0, 0, '', NULL), (3, ${Array.from({ length: 19 }, () => "NULL").join(",")})`);
    await caughtUp(recorder);
    const expected = await selected("types", "id, y, u, f*1e0, d*1e0, de, b, v, c, bi, CAST(e AS UNSIGNED), CAST(s AS UNSIGNED), j, t, t0, dt, ts, da, bl, g");
    expect(recorder.rowsOf("types").map(({ cells }) => cells)).toEqual(expected);
    expect(recorder.transactions[0]?.gtid).toMatch(/^0-\d+-\d+$/);
    expect(Math.abs((recorder.transactions[0]?.committedAt ?? 0) - Date.now())).toBeLessThan(20_000);
  });

  it("UUID, INET4 and INET6 become texts when the sink says what they are", async () => {
    await client.query("CREATE TABLE ids (u uuid, id int, a inet4, b inet6, PRIMARY KEY (u, b))");
    const formats: (CellFormat | null)[] = ["uuid", null, "inet4", "inet6"];
    await using recorder = await follow({ want: ({ table }) => (table === "ids" ? { columns: [0, 1, 2, 3], keyCells: [0, 3], formats } : table === "marker" ? { columns: [0], keyCells: [0] } : null) });
    const random = seeded(3);
    const hex = (bytes: number) => Array.from({ length: bytes }, () => Math.floor(random() * 256).toString(16).padStart(2, "0")).join("");
    const addresses = ["::", "::1", "1::", "::1.2.3.4", "::ffff:1.2.3.4", "2001:db8:0:1:1:1:1:1", "2001:0:0:1:0:0:0:1", "1:0:0:2:0:0:3:4", "::1:0:0", "fe80::", "0:1::", "1:2:3:4:5:6:7:0"];
    for (let i = 0; i < 300; i++) addresses.push(Array.from({ length: 8 }, () => (random() < 0.5 ? "0" : Math.floor(random() * 65536).toString(16))).join(":"));
    await client.query(`INSERT INTO ids VALUES ${addresses.map((address, i) => `('${hex(6)}${"1467"[i % 4]}0${hex(1)}${"89ab"[i % 4]}${hex(1)}0${hex(5)}00', ${i}, '${i % 256}.0.${(i * 7) % 256}.0', '${address}')`).join(",")}`);
    await client.query("UPDATE ids SET id = id + 1000 WHERE id = 5");
    await caughtUp(recorder);
    const rows = recorder.rowsOf("ids");
    const expected = await selected("ids", "u, id, a, b");
    const inserted = rows.slice(0, -1).map(({ cells }) => cells);
    expect(inserted.filter((_, i) => i !== 5)).toEqual(expected.slice(0, -1));
    expect(rows.at(-1)).toMatchObject({ cells: expected.at(-1), beforeKey: `$${expected.at(-1)?.[0]}\x0f${expected.at(-1)?.[3]}`.replace("\x0f", String.fromCharCode(expected.at(-1)?.[3]?.length ?? 0)) });
  });

  it("compressed events, DDL, CREATE … SELECT, savepoints, XA", async () => {
    await client.query("CREATE TABLE t (id int PRIMARY KEY, v varchar(200)); CREATE TABLE other (id int PRIMARY KEY)");
    await using recorder = await follow({ want: ({ table, columns }) => (table === "other" ? null : { columns: columns.map((_, i) => i), keyCells: [0] }) });
    await client.query("SET GLOBAL log_bin_compress=1, log_bin_compress_min_len=10");
    try {
      await client.query("INSERT INTO t VALUES (1, repeat('xyz', 50)), (2, repeat('abc', 50)); UPDATE t SET v = repeat('q', 100) WHERE id = 1; DELETE FROM t WHERE id = 2");
      await client.query("CREATE TABLE a_table_of_a_rather_long_name (id int PRIMARY KEY, a_column_of_a_rather_long_name int)");
    } finally {
      await client.query("SET GLOBAL log_bin_compress=0");
    }
    await client.query("CREATE TABLE c (id int PRIMARY KEY) SELECT 7 AS id; BEGIN; INSERT INTO t VALUES (5, 'a'); SAVEPOINT x; INSERT INTO t VALUES (6, 'b'); ROLLBACK TO x; COMMIT");
    await client.query("XA START 'q'; INSERT INTO other VALUES (1); XA END 'q'; XA PREPARE 'q'; XA COMMIT 'q'; XA START 'r'; INSERT INTO t VALUES (8, 'one phase'); XA END 'r'; XA COMMIT 'r' ONE PHASE");
    await caughtUp(recorder);
    expect(recorder.rowsOf("t").map(({ beforeKey, cells }) => [beforeKey, cells])).toEqual([
      [null, ["1", "xyz".repeat(50)]], [null, ["2", "abc".repeat(50)]], ["\x011", ["1", "q".repeat(100)]], ["\x012", null], [null, ["5", "a"]], [null, ["8", "one phase"]],
    ]);
    expect(recorder.rowsOf("c").map(({ cells }) => cells)).toEqual([["7"]]);
    expect(recorder.transactions.flatMap(({ statements }) => statements.map(({ sql }) => sql.toString().replace(/\s+/g, " ")))).toEqual([
      "CREATE TABLE a_table_of_a_rather_long_name (id int PRIMARY KEY, a_column_of_a_rather_long_name int)",
      expect.stringMatching(/^CREATE TABLE `c`/),
    ]);
    await client.query("XA START 's'; INSERT INTO t VALUES (9, 'two phases'); XA END 's'; XA PREPARE 's'; XA ROLLBACK 's'");
    await expect(recorder.stream.ended).rejects.toMatchObject({ code: "DDL_UNSUPPORTED" });
  });

  it("COMPRESSED columns give their values", async () => {
    await client.query(`CREATE TABLE z (id int PRIMARY KEY, v varchar(100) COMPRESSED, w varchar(3000) COMPRESSED CHARACTER SET latin1, t tinytext COMPRESSED, m mediumtext COMPRESSED, b blob COMPRESSED, n int)`);
    await using recorder = await follow();
    await client.query(`INSERT INTO z VALUES (1, 'x', repeat('y', 3000), repeat('z', 255), repeat('long', 100000), repeat(0x00ff, 30000), 7), (2, '', '', '', '', '', 8), (3, NULL, NULL, NULL, NULL, NULL, 9)`);
    await client.query("SET SESSION column_compression_zlib_wrap=1; INSERT INTO z VALUES (4, repeat('a', 100), repeat('b', 99), repeat('c', 100), md5(1), 0x00, 10); SET SESSION column_compression_zlib_wrap=0");
    await caughtUp(recorder);
    expect(recorder.rowsOf("z").map(({ cells }) => cells)).toEqual(await selected("z", "*"));
  });

  it("old temporal formats and a purged position stop with a clear error", async () => {
    const old = await follow();
    await client.query("SET GLOBAL mysql56_temporal_format=OFF; CREATE TABLE o (id int PRIMARY KEY, d datetime(3)); INSERT INTO o VALUES (1, now()); SET GLOBAL mysql56_temporal_format=ON");
    await expect(old.stream.ended).rejects.toMatchObject({ code: "UNDECODABLE", cure: expect.stringContaining("mysql56_temporal_format") });
    await client.query("FLUSH BINARY LOGS; INSERT INTO marker VALUES (); FLUSH BINARY LOGS");
    const [logs] = await client.query<RowDataPacket[]>("SHOW BINARY LOGS");
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await client.query(`PURGE BINARY LOGS TO '${logs.at(-1)?.["Log_name"]}'`);
    const [rows] = await client.query<RowDataPacket[]>("SELECT @@server_id AS id");
    await expect(follow({ position: `0-${rows[0]?.["id"]}-3` })).rejects.toMatchObject({ code: "BINLOG_PURGED" });
  });
});
