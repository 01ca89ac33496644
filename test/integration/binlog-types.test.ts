/** Every type × its boundary values: the binlog's cells are byte for byte those of the copy's SELECT (cases 22, 26–30). */
import type { Connection, ResultSetHeader, RowDataPacket } from "mysql2/promise";
import { describe, expect, it } from "vitest";
import { readTableDefinition } from "../../src/shared/columns/read-table.js";
import { selectList } from "../../src/shared/columns/select-list.js";
import { textRow } from "../../src/shared/columns/text-row.js";
import { qualified, sql, utf8Sql, type ByteSql } from "../../src/shared/mysql/bytes.js";
import type { Session } from "../../src/shared/mysql/session.js";
import { testContext, type TestContext } from "../support/context.js";
import { jsonCorpus, randomDouble, randomFloat, seeded } from "./binlog-corpus.js";
import { Recorder } from "./binlog-recorder.js";

const ALL_BYTES = `0x${Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, "0")).join("")}`;
const SET64 = `set(${Array.from({ length: 64 }, (_, i) => `'m${i}'`).join(",")})`;
const ENUM300 = `enum(${Array.from({ length: 300 }, (_, i) => `'e${i}'`).join(",")})`;

const TYPES: [type: string, values: string[]][] = [
  ["tinyint", ["-128", "-1", "0", "9", "10", "99", "100", "127"]],
  ["tinyint unsigned", ["0", "127", "128", "255"]],
  ["smallint", ["-32768", "-1", "0", "999", "1000", "9999", "10000", "32767"]],
  ["smallint unsigned", ["0", "32768", "65535"]],
  ["mediumint", ["-8388608", "-1", "0", "99999", "100000", "8388607"]],
  ["mediumint unsigned", ["0", "8388608", "16777215"]],
  ["int", ["-2147483648", "-1", "0", "999999999", "1000000000", "2147483647"]],
  ["int unsigned", ["0", "2147483648", "4294967295"]],
  ["int(9) unsigned zerofill", ["0", "7", "4294967295"]],
  ["bigint", ["-9223372036854775808", "-9007199254740993", "-4294967296", "-4294967295", "-1", "0", "999999999999999999", "1000000000000000000", "4294967296", "9007199254740991", "9007199254740993", "9223372036854775807"]],
  ["bigint unsigned", ["0", "999999999", "1000000000", "9007199254740993", "9223372036854775808", "10000000000000000000", "9999999999999999999", "18446744073709551615"]],
  ["decimal(65,30)", ["0", "-1.5", "99999999999999999999999999999999999.999999999999999999999999999999", "-99999999999999999999999999999999999.999999999999999999999999999999", "0.000000000000000000000000000001", "1000000000", "-1000000000.000000001"]],
  ["decimal(65,0)", ["0", "-1", "99999999999999999999999999999999999999999999999999999999999999999"]],
  ["decimal(30,30)", ["0", "0.5", "-0.999999999999999999999999999999", "0.000000000000000000000000000001"]],
  ["decimal(10,2)", ["-0.1", "0", "12345678.90", "-99999999.99", "-0.01"]],
  ["decimal(10,0)", ["-9999999999", "0", "1000000000"]],
  ["decimal(9,9)", ["0.123456789", "-0.000000001"]],
  ["decimal(18,9)", ["999999999.999999999", "-1.000000001", "1000000"]],
  ["decimal(1,0)", ["9", "-9", "0"]],
  ["decimal(12,4) unsigned zerofill", ["0", "12345678.9"]],
  ["float", ["0", "-0e0", "1.1", "16777216", "3.4028234663852886e38", "-1.17549435e-38", "1e-45", "0.1", "123456.789"]],
  ["float(7,4)", ["999.0001", "-999.9999", "0.0001"]],
  ["double", ["0", "-0e0", "0.1", "1.7976931348623157e308", "2.2250738585072014e-308", "5e-324", "-123456789.12345678", "1e14", "1e15", "123456789012345", "1234567890123456", "1e16", "1e20", "1e21", "1e22", "9007199254740993", "0.30000000000000004", "1e-5", "1e-6", "1.5e-7", "1e-14", "1e-15", "1.25e-15", "1e-16", "1e100", "1e-100", "123456789012345678", "1234567890123456.7"]],
  ["double(30,10)", ["1.1", "-12345678901.1234567891", "0.0000000001"]],
  ["bit(1)", ["b'0'", "b'1'"]],
  ["bit(8)", ["b'0'", "b'11111111'"]],
  ["bit(10)", ["b'0'", "b'1111111111'", "b'1'"]],
  ["bit(64)", ["0", "x'ffffffffffffffff'", "x'8000000000000000'"]],
  ["year", ["'0000'", "1901", "2155", "1970", "2000"]],
  ["date", ["'0000-00-00'", "'2023-00-15'", "'2023-02-30'", "'1000-01-01'", "'9999-12-31'", "'0001-01-01'", "'2023-05-00'"]],
  ["datetime", ["'0000-00-00 00:00:00'", "'2023-00-15 01:02:03'", "'2024-02-31 23:59:59'", "'9999-12-31 23:59:59'"]],
  ...[1, 2, 3, 4, 5, 6].map((n): [string, string[]] => [`datetime(${n})`, ["'0000-00-00 00:00:00'", "'2023-00-15 01:02:03.000001'", "'9999-12-31 23:59:59.9'", "'2023-01-02 03:04:05.678912'"]]),
  ["timestamp", ["'0000-00-00 00:00:00'", "'1970-01-01 00:00:01'", "'2023-03-26 02:30:00'", "'2024-02-29 23:59:59'", "'2038-01-19 03:14:07'"]],
  ...[1, 2, 3, 4, 5, 6].map((n): [string, string[]] => [`timestamp(${n})`, ["'0000-00-00 00:00:00'", "'1970-01-01 00:00:01.000001'", "'2038-01-19 03:14:07.4'", "'2023-01-02 03:04:05.678912'"]]),
  ["time", ["'-838:59:59'", "'838:59:59'", "'0'", "'-00:00:01'", "'00:01:00'", "'-100:00:00'"]],
  ...[1, 2, 3, 4, 5, 6].map((n): [string, string[]] => [`time(${n})`, ["'-838:59:58.9'", "'-00:00:00.1'", "'-00:00:00.000001'", "'-01:00:00'", "'-00:59:59.999999'", "'838:59:59'", "'00:00:00.5'", "'12:34:56.789123'"]]),
  ["char(10) character set utf8mb4", ["''", "'abc'", "_utf8mb4 0xF09F9880F09F9880", "'a '", "'  '"]],
  ["char(255) character set utf8mb4", ["''", "repeat(_utf8mb4 0xF09F9880, 255)", "'a '"]],
  ["char(70) character set utf8mb4", ["''", "repeat(_utf8mb4 0xF09F9880, 70)", "repeat('x', 70)"]],
  ["char(10) character set utf16", ["_utf16 0x00610020", "''", "_utf16 0x5C5C"]],
  ["varchar(300) character set utf8mb4", ["''", "' '", "'a  '", "_utf8mb4 0xF09F9880", "repeat('x',250)", "repeat('x',251)", "repeat('y',300)"]],
  ["varchar(60) character set utf8mb4", ["''", "repeat('x',60)", "repeat(_utf8mb4 0xF09F9880, 60)"]],
  ["varchar(300) character set latin1", [`_latin1 ${ALL_BYTES}`, "_latin1 0x818D8F909D", "_latin1 0xff"]],
  ["varchar(300) character set gbk", ["_gbk 0x815C", "_gbk 0xbf5c27"]],
  ["varchar(300) character set utf16", ["_utf16 0x0000", "_utf16 0xD83DDE00", "''"]],
  ["tinytext", ["''", "'x'", "repeat('y',255)"]],
  ["text", ["''", "repeat('z',1000)", "repeat(_utf8mb4 0xF09F9880,16383)"]],
  ["mediumtext", ["repeat(_utf8mb4 0xF09F9880,20000)", "''"]],
  ["longtext", ["repeat('abc',300000)", "''"]],
  ["binary(1)", ["0x00", "0x20", "0xff"]],
  ["binary(16)", ["0x00000000000000000000000000000000", "0x0102030405060708090a0b0c0d0e0f00", "0x2020202020202020202020202020205c", "''"]],
  ["binary(255)", ["0x00", "repeat(0x00ff, 100)"]],
  ["varbinary(255)", ["''", "0x00", "0x0000", ALL_BYTES.slice(0, -2), "0x20"]],
  ["varbinary(300)", ["''", "0x00", ALL_BYTES]],
  ["tinyblob", ["''", "0x00ff"]],
  ["blob", [`concat(${ALL_BYTES},${ALL_BYTES})`, "''", `repeat(${ALL_BYTES},255)`]],
  ["mediumblob", [`repeat(${ALL_BYTES},300)`]],
  ["longblob", [`repeat(${ALL_BYTES},9000)`]],
  ["enum('a','','it''s')", ["1", "2", "3", "'not a member'", "''"]],
  [ENUM300, ["1", "300", "'e255'", "'not a member'"]],
  ["set('a','b','it''s')", ["0", "1", "7", "''"]],
  ["set('1','2','3','4','5','6','7','8','9')", ["0", "511", "256"]],
  [`set(${Array.from({ length: 20 }, (_, i) => `'m${i}'`).join(",")})`, ["0", "1048575"]],
  [`set(${Array.from({ length: 32 }, (_, i) => `'m${i}'`).join(",")})`, ["0", "4294967295"]],
  [SET64, ["0", "18446744073709551615", "9007199254740993", "9223372036854775808", "1"]],
  ["geometry", ["ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('POINT(30 10)',4326)", "ST_GeomFromText('GEOMETRYCOLLECTION EMPTY')", "ST_GeomFromText('POLYGON((0 0,10 0,10 10,0 10,0 0))',3857)"]],
  ["point", ["ST_GeomFromText('POINT(5e-324 -0)')"]],
  ["linestring", ["ST_GeomFromText('LINESTRING(0 0,1 1)')"]],
  ["vector(4)", ["STRING_TO_VECTOR('[1,2,3,4]')"]],
  ["vector(2048)", ["STRING_TO_VECTOR(concat('[', repeat('0.5,',2047), '1]'))"]],
];

/** A connection that speaks `SET NAMES binary` and gives every value's bytes as latin1 text. */
class ByteSession {
  constructor(private readonly connection: Connection) {}

  async values(statement: ByteSql): Promise<(string | null)[][]> {
    const [rows] = await this.connection.query({
      sql: statement,
      rowsAsArray: true,
      typeCast: (field) => (field.buffer() as Buffer | null)?.toString("latin1") ?? null,
    });
    return rows as unknown as (string | null)[][];
  }

  async run(statement: ByteSql): Promise<void> {
    await this.connection.query(statement);
  }

  /** The rows of `table` in the order of `id` as the copy reads them. */
  async copied(schema: string, table: string): Promise<(string | null)[][]> {
    const utf8 = (text: string | null) => (text === null ? null : Buffer.from(text, "latin1").toString("utf8"));
    const reader = {
      run: (statement: ByteSql) => this.run(statement),
      readRows: async (statement: ByteSql, onRow: (buffer: Buffer, start: number, end: number) => unknown) => {
        for (const row of await this.values(statement)) {
          const text = textRow(row.map((cell) => (cell === null ? null : Buffer.from(cell, "latin1"))));
          onRow(text, 0, text.length);
        }
        return true;
      },
      rows: async (statement: ByteSql) => {
        const [rows, fields] = await this.connection.query<RowDataPacket[][]>({ sql: statement, rowsAsArray: true, typeCast: (field) => (field.buffer() as Buffer | null)?.toString("latin1") ?? null });
        return rows.map((row) => Object.fromEntries(fields.map(({ name }, i) => [name, utf8(row[i] as unknown as string | null)])));
      },
    };
    const definition = await readTableDefinition(reader as unknown as Session, schema, table);
    if (definition === null) throw new Error(`no table ${table}`);
    return await this.values(sql`SELECT ${selectList(definition)} FROM ${qualified(schema, table)} ORDER BY id`);
  }
}

interface Fixture {
  ctx: TestContext;
  recorder: Recorder;
  session: ByteSession;
  /** Waits until all that was written so far has come. */
  caughtUp(): Promise<void>;
}

async function withFixture(run: (fixture: Fixture) => Promise<void>): Promise<void> {
  await using ctx = await testContext();
  await ctx.source.query("SET SESSION sql_mode='', time_zone='+00:00'");
  const [start] = await ctx.source.query("SELECT @@gtid_executed AS position");
  await using recorder = await Recorder.open({ server: ctx.source, position: start?.["position"], schema: ctx.schema });
  const session = new ByteSession(await ctx.source.connect({ charset: "BINARY" }));
  await session.run("SET time_zone='+00:00', sql_mode=''" as ByteSql);
  await ctx.source.query(`CREATE TABLE ${ctx.schema}.marker (id int PRIMARY KEY AUTO_INCREMENT)`);
  const caughtUp = async () => {
    const result = await ctx.source.query<ResultSetHeader>(`INSERT INTO ${ctx.schema}.marker VALUES ()`);
    await recorder.until(() => recorder.rowsOf("marker").some(({ cells }) => cells?.[0] === String(result.insertId)));
  };
  await run({ ctx, recorder, session, caughtUp });
}

describe("cells of the binlog are those of SELECT", () => {
  it("for every type and boundary value, NULL, and all of them in one row", async () => {
    await withFixture(async ({ ctx, recorder, session, caughtUp }) => {
      const { schema } = ctx;
      for (const [i, [type, values]] of TYPES.entries()) {
        await session.run(utf8Sql(`CREATE TABLE ${schema}.t${i} (id int PRIMARY KEY, v ${type} NULL, z int NOT NULL DEFAULT 9)`));
        const tuples = values.map((value, k) => `(${k}, ${value})`).join(",");
        await ctx.source.query(`INSERT IGNORE INTO ${schema}.t${i} (id, v) VALUES ${tuples}, (1000, NULL)`);
      }
      const columns = TYPES.map(([type], i) => `c${i} ${type}`);
      // A row holds at most 65535 bytes; blobs and texts count little.
      const wide = columns.filter((column) => !/(char|binary)\((255|300)\)|vector/.test(column));
      await session.run(utf8Sql(`CREATE TABLE ${schema}.wide (id int PRIMARY KEY, ${wide.join(",")})`));
      const longest = Math.max(...TYPES.map(([, values]) => values.length));
      for (let k = 0; k < longest; k++) {
        const pairs = TYPES.flatMap(([, values], i) => (wide.includes(columns[i] as string) && (values[k]?.length ?? 9999) < 2000 ? [[`c${i}`, values[k] as string]] : []));
        await ctx.source.query(`INSERT IGNORE INTO ${schema}.wide (id, ${pairs.map(([name]) => name).join(",")}) VALUES (${k}, ${pairs.map(([, value]) => value).join(",")})`);
      }
      await caughtUp();
      for (const [i, [type]] of TYPES.entries()) {
        const expected = await session.copied(schema, `t${i}`);
        expect({ type, rows: recorder.rowsOf(`t${i}`).map(({ cells }) => cells) }).toEqual({ type, rows: expected });
      }
      expect(recorder.rowsOf("wide").map(({ cells }) => cells)).toEqual(await session.copied(schema, "wide"));
    });
  });

  it("for ten thousand random doubles and floats", async () => {
    await withFixture(async ({ ctx, recorder, session, caughtUp }) => {
      const random = seeded(7);
      await session.run(utf8Sql(`CREATE TABLE ${ctx.schema}.d (id int PRIMARY KEY, d double, f float)`));
      for (let batch = 0; batch < 5; batch++) {
        const rows = Array.from({ length: 2000 }, (_, i) => `(${batch * 2000 + i}, ${randomDouble(random)}, ${randomFloat(random)})`);
        await ctx.source.query(`INSERT INTO ${ctx.schema}.d VALUES ${rows.join(",")}`);
      }
      await caughtUp();
      const decoded = recorder.rowsOf("d").map(({ cells }) => cells);
      expect(decoded.length).toBe(10_000);
      const expected = await session.copied(ctx.schema, "d");
      const wrong = decoded.flatMap((cells, i) => (JSON.stringify(cells) === JSON.stringify(expected[i]) ? [] : [{ cells, expected: expected[i] }]));
      expect(wrong).toEqual([]);
    });
  });

  it("for JSON documents of every kind", async () => {
    await withFixture(async ({ ctx, recorder, session, caughtUp }) => {
      await session.run(utf8Sql(`CREATE TABLE ${ctx.schema}.j (id int PRIMARY KEY, j json NOT NULL)`));
      const documents = jsonCorpus(seeded(11), 1500);
      for (let at = 0; at < documents.length; at += 300) {
        const rows = documents.slice(at, at + 300).map((document, i) => `(${at + i}, ${document})`);
        await ctx.source.query(`INSERT INTO ${ctx.schema}.j VALUES ${rows.join(",")}`);
      }
      // Zero bytes instead of a document.
      await ctx.source.query(`INSERT IGNORE INTO ${ctx.schema}.j VALUES (1000000, 'null'), (1000001, NULL)`).catch(() => undefined);
      await ctx.source.query(`INSERT IGNORE INTO ${ctx.schema}.j (id) VALUES (1000002)`);
      await caughtUp();
      const expected = await session.copied(ctx.schema, "j");
      const decoded = recorder.rowsOf("j").map(({ cells }) => cells);
      expect(decoded.length).toBe(expected.length);
      const wrong = decoded.flatMap((cells, i) => (cells?.[1] === expected[i]?.[1] ? [] : [{ id: cells?.[0], decoded: cells?.[1], expected: expected[i]?.[1] }]));
      expect(wrong).toEqual([]);
    });
  });
});
