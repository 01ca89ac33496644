/** Every type × its boundary values: read as text rows, written by both writers, compared by HEX on the server (cases 22, 26–30). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LoadWriter } from "../../src/shared/columns/load-writer.js";
import { BYTE_LITERALS, TEXT_LITERALS } from "../../src/shared/columns/literals.js";
import { readTableDefinition } from "../../src/shared/columns/read-table.js";
import { ReplaceWriter } from "../../src/shared/columns/replace-writer.js";
import { selectList } from "../../src/shared/columns/select-list.js";
import { utf8Sql, type ByteSql } from "../../src/shared/mysql/bytes.js";
import { chunkHashOf, chunkHashQuery, sameHash } from "../../src/shared/keys/chunk-hash.js";
import { rowHashExpression } from "../../src/shared/columns/row-hash.js";
import { testSchema, type TestSchema } from "./columns-server.js";

let server: TestSchema;
beforeAll(async () => {
  server = await testSchema();
});
afterAll(() => server[Symbol.asyncDispose]());

const allBytes = `0x${Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, "0")).join("")}`;
const set64 = `set(${Array.from({ length: 64 }, (_, i) => `'m${i}'`).join(",")})`;

/** Per type the SQL of its values. */
export const TYPE_CASES: [type: string, values: string[]][] = [
  ["tinyint", ["-128", "0", "127"]],
  ["tinyint(1)", ["-128", "0", "1"]],
  ["tinyint unsigned", ["0", "255"]],
  ["smallint", ["-32768", "32767"]],
  ["mediumint", ["-8388608", "8388607"]],
  ["int", ["-2147483648", "0", "2147483647"]],
  ["int(9) unsigned zerofill", ["0", "7", "4294967295"]],
  ["bigint", ["-9223372036854775808", "9007199254740993", "9223372036854775807"]],
  ["bigint unsigned", ["0", "9007199254740993", "9223372036854775808", "18446744073709551615"]],
  ["bigint(20) unsigned zerofill", ["0", "18446744073709551615"]],
  ["decimal(65,30)", ["0", "-1.5", "99999999999999999999999999999999999.999999999999999999999999999999", "0.000000000000000000000000000001"]],
  ["decimal(10,0)", ["-9999999999", "0"]],
  ["decimal(12,4) unsigned zerofill", ["0", "12345678.9"]],
  ["float", ["0", "-0e0", "1.1", "16777216", "3.4028234663852886e38", "-1.17549435e-38", "1e-45", "0.1", "123456.789"]],
  ["float(7,4)", ["999.0001", "-999.9999", "0.0001"]],
  ["float unsigned", ["0.3", "3.3e38"]],
  ["double", ["0", "-0e0", "0.1", "1.7976931348623157e308", "2.2250738585072014e-308", "5e-324", "-123456789.12345678", "1e22", "9007199254740993", "0.30000000000000004", "1e15", "1e16", "123456789012345678"]],
  ["double(30,10)", ["1.1", "-12345678901.1234567891", "0.0000000001"]],
  ["bit(1)", ["b'0'", "b'1'"]],
  ["bit(10)", ["b'0'", "b'1111111111'", "x'1d'", "x'5c'", "x'27'"]],
  ["bit(64)", ["0", "x'ffffffffffffffff'", "x'8000000000000000'", "x'1d1e1f1d00270a5c'"]],
  ["year", ["'0000'", "1901", "2155", "1970", "2000"]],
  ["date", ["'0000-00-00'", "'2023-00-15'", "'2023-02-30'", "'1000-01-01'", "'9999-12-31'", "'0001-01-01'", "'2023-05-00'"]],
  ["datetime", ["'0000-00-00 00:00:00'", "'2023-00-15 01:02:03'", "'2024-02-31 23:59:59'", "'9999-12-31 23:59:59'"]],
  ["datetime(6)", ["'0000-00-00 00:00:00.000000'", "'2023-00-15 01:02:03.000001'", "'9999-12-31 23:59:59.999999'"]],
  ["timestamp", ["'0000-00-00 00:00:00'", "'1970-01-01 00:00:01'", "'2023-03-26 02:30:00'", "'2038-01-19 03:14:07'"]],
  ["timestamp(6)", ["'0000-00-00 00:00:00'", "'1970-01-01 00:00:01.000001'", "'2038-01-19 03:14:07.499999'"]],
  ["time", ["'-838:59:59'", "'838:59:59'", "'0'", "'-00:00:01'"]],
  ["time(6)", ["'-838:59:58.999999'", "'-00:00:00.000001'", "'-01:00:00.000000'", "'838:59:59'", "'00:00:00.5'"]],
  ["char(10) character set utf8mb4", ["''", "'abc'", "_utf8mb4 0xF09F9880F09F9880", "'a '", "_utf8mb4'\\'\\\\\\n\\0\\t\x1d\x1e\x1f'", "'N'", "_utf8mb4 0x5C4E"]],
  ["varchar(300) character set utf8mb4", ["''", "' '", "'a  '", "_utf8mb4 0xF09F9880", "repeat('x',250)", "repeat('x',251)", "repeat('\x1d',300)", "_utf8mb4'\\\\N'", "_utf8mb4 0x1d4e", "_utf8mb4 0xC3BF"]],
  ["varchar(300) character set utf8mb3", ["_utf8mb3 0xE282AC", "''"]],
  ["varchar(300) character set latin1", [`_latin1 ${allBytes}`, "_latin1 0x818D8F909D", "_latin1 0xff"]],
  ["varchar(300) character set ascii", ["'abc'", "_ascii 0x00010203041d1e1f7f"]],
  ["varchar(300) character set gbk", ["_gbk 0x815C", "_gbk 0xbf5c27", "_gbk 0xd6d0b9fa5c"]],
  ["varchar(300) character set big5", ["_big5 0xA55CA55C", "_big5 0xB35C"]],
  ["varchar(300) character set sjis", ["_sjis 0x955C", "_sjis 0x83418342"]],
  ["varchar(300) character set cp932", ["_cp932 0x815C815F", "_cp932 0xED40"]],
  ["varchar(300) character set gb18030", ["_gb18030 0x81308130", "_gb18030 0x815C"]],
  ["varchar(300) character set gb2312", ["_gb2312 0xd6d0"]],
  ["varchar(300) character set euckr", ["_euckr 0xb0a1"]],
  ["varchar(300) character set ujis", ["_ujis 0xa4a2"]],
  ["varchar(300) character set utf16", ["_utf16 0x0000", "_utf16 0x005C", "_utf16 0x0A0A0D0D", "_utf16 0xD83DDE00", "_utf16 0x00270027", "_utf16 0x1d1e1f1d", "''"]],
  ["varchar(300) character set utf16le", ["_utf16le 0x5C00", "_utf16le 0x3DD800DE", "_utf16le 0x1d1e"]],
  ["varchar(300) character set ucs2", ["_ucs2 0x5C5C", "_ucs2 0x0000"]],
  ["varchar(300) character set utf32", ["_utf32 0x0001F600", "_utf32 0x0000005C", "_utf32 0x00000000"]],
  ["char(10) character set utf16", ["_utf16 0x00610020", "''", "_utf16 0x5C5C"]],
  ["varchar(300) character set koi8r", [`_koi8r ${allBytes}`]],
  ["varchar(300) character set cp1251", [`_cp1251 ${allBytes}`]],
  ["varchar(300) character set hebrew", [`_hebrew ${allBytes}`]],
  ["varchar(300) character set swe7", ["_swe7 0x5b5c5d"]],
  ["varchar(300) character set tis620", ["_tis620 0xa1a2"]],
  ["tinytext", ["''", "'x'", "repeat('y',255)"]],
  ["text", ["''", "repeat('\x1d',1000)", "repeat(_utf8mb4 0xF09F9880,16383)"]],
  ["mediumtext character set utf16", ["repeat(_utf16 0x5C5C,1000)", "repeat(_utf16 0xD83DDE00,20000)"]],
  ["longtext", ["repeat('abc\x1e',300000)", "''"]],
  ["binary(16)", ["0x00000000000000000000000000000000", "0x0102030405060708090a0b0c0d0e0f00", "0x1d1e1f275c0a0d1a202020202020205c"]],
  ["varbinary(300)", ["''", "0x00", "0x0000", allBytes, "0x20", "0x5c4e", "0x1d4e"]],
  ["tinyblob", ["''", "0x00ff"]],
  ["blob", [`concat(${allBytes},${allBytes})`, "''", `repeat(${allBytes},255)`]],
  ["mediumblob", [`repeat(${allBytes},300)`, "repeat(0x1d1e1f,100000)"]],
  ["longblob", [`repeat(${allBytes},9000)`, "repeat(0x1e,1500000)"]],
  ["enum('a','','it''s','\\\\',',') character set utf8mb4", ["1", "2", "3", "4", "5", "'not a member'"]],
  ["enum('\u00e9','z') character set latin1", ["1", "2", "'not a member'"]],
  ["set('a','b','it''s') character set latin1", ["0", "1", "7", "''"]],
  [set64, ["0", "18446744073709551615", "9007199254740993", "9223372036854775808", "1"]],
  ["json", ["'null'", "'{}'", "'[]'", "'18446744073709551615'", "'-9223372036854775808'", "'1.5'", "'1e300'", "'0.1'", "'-0.0'", "'1.0'", `'{"__proto__":1,"a":{"b":[true,false,null]}}'`, "_utf8mb4 0x22F09F988022", `'"\\\\u0000\\\\"\\\\n\\x1d"'`, `cast(concat(repeat('[',90),repeat(']',90)) as json)`, "json_object('d', cast('2024-01-02' as date), 't', cast('12:00:00.5' as time(6)))", "json_object('b', cast(0x001dff as binary), 'n', cast(1.5 as decimal(3,1)))",
    // Numbers that text does not carry: these rows go aside.
    "json_object('n', 12.50)", String.raw`json_array(1.10, json_object('x\"y\\\\.[0]', json_array(0.00, '0.00', 1)), 2, 0.1)`, "json_array(123456789012345678901234567890.10, -0.000000000000000000000000000001)", "cast(12.30 as json)", "json_object('', 123456789012345678901)", "json_object(_utf8mb4 0xC3A9, 5.0, _utf8mb4 0xF09F9880, 5.00)", "'0.30000000000000004'", "'[1.0,100.5,1e15,0.0001,0.00001,1e-7,123456789012345.6,9007199254740993,-9223372036854775808,1.7976931348623157e308]'"]],
  ["geometry", ["ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('POINT(30 10)',4326)", "ST_GeomFromText('GEOMETRYCOLLECTION EMPTY')", "ST_GeomFromText('POLYGON((0 0,10 0,10 10,0 10,0 0))',3857)"]],
  ["point", ["ST_GeomFromText('POINT(5e-324 -0)')"]],
  ["point srid 4326", ["ST_GeomFromText('POINT(30 10)',4326)"]],
  ["linestring", ["ST_GeomFromText('LINESTRING(0 0,1 1)')"]],
  ["polygon", ["ST_GeomFromText('POLYGON((0 0,10 0,10 10,0 10,0 0))')"]],
  ["multipoint", ["ST_GeomFromText('MULTIPOINT(0 0,1 1)')"]],
  ["multilinestring", ["ST_GeomFromText('MULTILINESTRING((0 0,1 1))')"]],
  ["multipolygon", ["ST_GeomFromText('MULTIPOLYGON(((0 0,10 0,10 10,0 10,0 0)))')"]],
  ["geometrycollection", ["ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,1 1))')"]],
  ["vector(4)", ["STRING_TO_VECTOR('[1,2,3,4]')", "0x1d1e1f1d1d1e1f1d000000805c5c5c5c"]],
  ["uuid", ["'123e4567-e89b-12d3-a456-426655440000'", "'00000000-0000-0000-0000-000000000000'"]],
  ["inet4", ["'0.0.0.0'", "'255.255.255.255'"]],
  ["inet6", ["'::'", "'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'", "'::ffff:1.2.3.4'"]],
  ["vector(2048)", ["STRING_TO_VECTOR(concat('[', repeat('0.5,',2047), '1]'))"]],
];

/** A form of the value that does not go through any of our expressions. */
const independent = "CONCAT_WS('/', HEX(v), HEX(CAST(v AS CHAR)), v IS NULL, IFNULL(v+0,'-'))";
const independentFor = (type: string) =>
  /^(enum|set)/.test(type) ? "CONCAT_WS('/', CAST(v AS UNSIGNED), HEX(CONCAT(v)), v IS NULL)"
  : /^json/.test(type) ? "CONCAT_WS('/', HEX(CAST(v AS CHAR)), v IS NULL)"
  : /^(float|double)/.test(type) ? "CONCAT_WS('/', v, v+0, HEX(v), v IS NULL, IF(v > 1, v/3, v*3))"
  : /^(geom|point|line|poly|multi)/.test(type) ? "CONCAT_WS('/', HEX(v), ST_SRID(v), v IS NULL)"
  : /^(vector|uuid|inet)/.test(type) ? "CONCAT_WS('/', HEX(v), v IS NULL)"
  : /blob|text|char|binary/.test(type) ? "CONCAT_WS('/', SHA2(HEX(v),256), LENGTH(v), CHAR_LENGTH(v), v IS NULL)"
  : independent;

describe("every type, every boundary value", () => {
  it.for(TYPE_CASES.map(([type, values], i) => ({ type, values, i })))("$type", async ({ type, values, i }, { skip }) => {
    const { schema } = server;
    using session = await server.open();
    skip(session.isMariaDb && /^vector|^json|gb18030|srid/.test(type), "not on MariaDB");
    skip(!session.isMariaDb && /^uuid|^inet/.test(type), "MariaDB only");
    const run = (text: string) => session.run(text as ByteSql);
    const [s, l, r] = [`s${i}`, `l${i}`, `r${i}`];
    await run(TEXT_LITERALS);
    await session.run(utf8Sql(`CREATE TABLE ${s} (id int NOT NULL PRIMARY KEY, v ${type} NULL, z int NOT NULL DEFAULT 9)`));
    await run(`CREATE TABLE ${l} LIKE ${s}`);
    await run(`CREATE TABLE ${r} LIKE ${s}`);
    await session.run(utf8Sql(`INSERT INTO ${s} (id, v) VALUES ${[...values, "NULL"].map((value, n) => `(${n}, ${value})`).join(",")}`));
    await run(BYTE_LITERALS);
    const definition = await readTableDefinition(session, schema, s);
    if (!definition) throw new Error("no definition");
    const asideWriter = new ReplaceWriter(definition, { schema, table: l }, { maxBytes: 1 << 20, maxRows: 100 });
    let aside = 0;
    const load = new LoadWriter(definition, { schema, table: l }, {
      aside: (row, start, end) => {
        asideWriter.add(row, start, end);
        aside += 1;
      },
    });
    const replace = new ReplaceWriter(definition, { schema, table: r }, { maxBytes: 1 << 20, maxRows: 3 });
    const statements: { statement: ByteSql; rows: number; expectedWarnings: number }[] = [];
    await session.readRows(`SELECT ${selectList(definition)} FROM ${s} ORDER BY id` as ByteSql, (buffer, start, end) => {
      load.add(buffer, start, end);
      const full = replace.add(buffer, start, end);
      if (full) statements.push(full);
    });
    const rest = replace.finish();
    if (rest) statements.push(rest);
    const file = load.finish();
    if (!file) throw new Error("no file");
    const loaded = await session.load(file.statement, file.chunks);
    if (loaded.warnings !== file.expectedWarnings) console.log(type, (await session.rows("SHOW WARNINGS" as ByteSql)).map((w) => w["Message"]));
    expect(loaded, "load").toMatchObject({ affectedRows: values.length + 1 - aside, warnings: file.expectedWarnings });
    expect(file.rows).toBe(values.length + 1 - aside);
    expect(aside).toBe(type === "json" ? 7 : 0);
    const asideRows = asideWriter.finish();
    if (asideRows) await session.run(asideRows.statement);
    for (const { statement, rows, expectedWarnings } of statements) expect(await session.run(statement), "replace").toMatchObject({ affectedRows: rows, warnings: expectedWarnings });
    const exact = (table: string) => session.rows(`SELECT id, ${independentFor(type)} AS v, z FROM ${table} ORDER BY id` as ByteSql);
    const expected = await exact(s);
    expect(expected.length).toBe(values.length + 1);
    expect(await exact(l), "load").toEqual(expected);
    expect(await exact(r), "replace").toEqual(expected);

    const hashOf = async (table: string) => chunkHashOf((await session.rows(chunkHashQuery({ ...definition, table }, { lower: null, upper: null }, session)))[0]);
    const hash = await hashOf(s);
    expect(hash.rows).toBe(values.length + 1);
    expect(sameHash(hash, await hashOf(l))).toBe(true);
    const value = definition.columns.filter((c) => c.name === "v");
    const hashes = await session.rows(`SELECT DISTINCT ${rowHashExpression(definition, value)} AS h FROM ${s}` as ByteSql);
    expect(hashes.length, "different values have different hashes").toBe(new Set(expected.map((row) => row["v"])).size);
    await run(`UPDATE ${l} SET v = NULL WHERE id = 0`);
    expect(sameHash(hash, await hashOf(l)), "a changed value changes the hash").toBe(false);
  });
});
