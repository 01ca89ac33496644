/** Every kind of key is walked, cut, read by ranges and deleted by key: every row once, in the server's order, by index ranges (cases 18–24). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BYTE_LITERALS, TEXT_LITERALS } from "../../src/shared/columns/literals.js";
import { readTableDefinition } from "../../src/shared/columns/read-table.js";
import { copiedColumns, type TableDefinition } from "../../src/shared/columns/table-definition.js";
import { rowCells } from "../../src/shared/columns/text-row.js";
import { boundaryQuery, maxKeyQuery } from "../../src/shared/keys/boundary-query.js";
import { chunkSelect, rowsByKey } from "../../src/shared/keys/chunk-select.js";
import { deleteStatements } from "../../src/shared/keys/delete-statements.js";
import { keyOf } from "../../src/shared/keys/key-of.js";
import { utf8Sql, type ByteSql } from "../../src/shared/mysql/bytes.js";
import type { MysqlSession } from "../../src/shared/mysql/mysql-session.js";
import { testSchema, textRows, type TestSchema } from "./columns-server.js";

let server: TestSchema;
beforeAll(async () => {
  server = await testSchema();
});
afterAll(() => server[Symbol.asyncDispose]());

interface KeyCase {
  name: string;
  /** Column definitions of the key's columns k0, k1, … */
  columns: string[];
  /** Index definition; default PRIMARY KEY over all. */
  index?: string;
  /** One value list per row, without the parentheses. */
  rows: string[];
  /** The server has no ranges for this type (a SET of many members): EXPLAIN is not looked at. */
  noRange?: boolean;
  /** Not a type or collation of MariaDB. */
  mysqlOnly?: boolean;
  mariaDbOnly?: boolean;
}

const numbers = (n: number, f: (i: number) => string) => Array.from({ length: n }, (_, i) => f(i));

const CASES: KeyCase[] = [
  { name: "int with negatives and zero", columns: ["int"], rows: ["-2147483648", "-1", "0", "1", "2147483647", "5", "6"] },
  { name: "int zerofill", columns: ["int(10) zerofill"], rows: ["0", "1", "00012", "4294967295"] },
  { name: "auto_increment with id 0", columns: ["int AUTO_INCREMENT"], rows: ["0", "-5", "1", "7"] },
  { name: "bigint unsigned above 2^63", columns: ["bigint unsigned"], rows: ["0", "9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551614", "18446744073709551615"] },
  { name: "sparse bigint", columns: ["bigint"], rows: numbers(50, (i) => String(BigInt(i) * 10n ** 13n)) },
  { name: "decimal", columns: ["decimal(65,30)"], rows: ["0", "-1.5", "1", "1.000000000000000000000000000001", "99999999999999999999999999999999999.9"] },
  { name: "float", columns: ["float"], rows: ["0", "1.1", "-2.5", "3.4028234e38", "1e-38", "16777216", "0.1", "1e-45"] },
  { name: "double", columns: ["double"], rows: ["0", "1.1", "-2.5", "1.7976931348623157e308", "5e-324", "9007199254740993", "0.1"] },
  { name: "bit(64)", columns: ["bit(64)"], rows: ["0", "1", "255", "9223372036854775808", "18446744073709551615", "x'1d1e1f5c270a0000'"] },
  { name: "bit(3)", columns: ["bit(3)"], rows: numbers(8, String) },
  { name: "year with 0000", columns: ["year"], rows: ["'0000'", "1901", "1970", "2000", "2023", "2155"] },
  { name: "date with zero and partial dates", columns: ["date"], rows: ["'0000-00-00'", "'2023-00-15'", "'2023-02-30'", "'2023-05-00'", "'2024-01-01'", "'9999-12-31'"] },
  { name: "datetime(6)", columns: ["datetime(6)"], rows: ["'0000-00-00'", "'2023-00-15 01:02:03.000001'", "'2023-02-30'", "'2024-01-01 00:00:00.5'", "'9999-12-31 23:59:59.999999'"] },
  { name: "timestamp(3)", columns: ["timestamp(3)"], rows: ["'0000-00-00'", "'1970-01-01 00:00:01.5'", "'2023-03-26 02:30:00'", "'2038-01-19 03:14:07.499'"] },
  { name: "time(2)", columns: ["time(2)"], rows: ["'-838:59:59'", "'-00:00:00.5'", "'0'", "'00:00:00.01'", "'12:00:00'", "'838:59:59'"] },
  { name: "binary(16) ending in 0x00", columns: ["binary(16)"], rows: ["0x00", "0x0100", "0x01", "0x010000000000000000000000000000FF", "0x20", "0x275c0a0d1a001d1e1f", "0xffffffffffffffffffffffffffffffff"].filter((v) => v !== "0x0100") },
  { name: "varbinary", columns: ["varbinary(20)"], rows: ["''", "0x00", "0x0000", "0x01", "0x20", "0x2020", "0x5c27", "0xff"] },
  { name: "enum", columns: ["enum('z','a','','m')"], rows: ["1", "2", "3", "4", "0"] },
  { name: "set, few members", columns: ["set('a','b','c')"], rows: numbers(8, String) },
  { name: "set, 64 members", columns: [`set(${numbers(64, (i) => `'m${i}'`).join(",")})`], rows: ["0", "1", "9007199254740993", "9223372036854775808", "18446744073709551615"], noRange: true },
  { name: "latin1, case-insensitive", columns: ["varchar(20) CHARACTER SET latin1"], rows: ["'a'", "'B'", "'c'", "_latin1 0xe9", "_latin1 0xff", "_latin1 0x81", "''", "_latin1'\\'\\\\'", "'Z'", "'10'", "'9'"] },
  { name: "utf8mb4, accent-insensitive, no pad", mysqlOnly: true, columns: ["varchar(20) CHARACTER SET utf8mb4"], rows: ["'a'", "'B'", "'c'", "''", "' '", "'a '", "_utf8mb4 0xF09F9880", "_utf8mb4 0xC3A9", "_utf8mb4'\\\\\\''", "_utf8mb4 0xE4B8AD"] },
  { name: "utf8mb4_general_ci, space-padded", columns: ["varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"], rows: ["'a'", "'a\\t'", "'a!'", "'B '", "''", "'\\t'", "'\\0'", "_utf8mb4 0xF09F9880"] },
  { name: "utf8mb3_bin", columns: ["varchar(20) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin"], rows: ["'a'", "'A'", "_utf8mb3 0xE282AC", "''", "'b '"] },
  { name: "utf8mb4_0900_bin", mysqlOnly: true, columns: ["varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin"], rows: ["'a'", "'A'", "'a '", "''", "_utf8mb4 0xF09F9880"] },
  { name: "utf8mb4_de_pb_0900_as_cs", mysqlOnly: true, columns: ["varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_de_pb_0900_as_cs"], rows: ["'a'", "'A'", "_utf8mb4 0xC3A4", "_utf8mb4 0xC39F", "'ss'", "'z'"] },
  { name: "utf8mb4_cs_0900_ai_ci (contractions)", mysqlOnly: true, columns: ["varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_cs_0900_ai_ci"], rows: ["'c'", "'ch'", "'d'", "'h'", "'ci'", "'i'"] },
  { name: "gbk", columns: ["varchar(20) CHARACTER SET gbk"], rows: ["_gbk 0x815C", "_gbk 0xbf5c27", "_gbk 0xd6d0b9fa", "'a'", "'\\\\'", "'\\''"] },
  { name: "sjis", columns: ["varchar(20) CHARACTER SET sjis"], rows: ["_sjis 0x955C", "_sjis 0x8341", "'a'"] },
  { name: "utf16", columns: ["varchar(20) CHARACTER SET utf16"], rows: ["_utf16 0x005C", "_utf16 0x0027", "_utf16 0x0A0A", "_utf16 0xD83DDE00", "_utf16 0x0000", "''", "_utf16 0x00610062"] },
  { name: "ucs2", columns: ["varchar(20) CHARACTER SET ucs2"], rows: ["_ucs2 0x5C27", "_ucs2 0x0000", "_ucs2 0x0061"] },
  { name: "utf32", columns: ["char(5) CHARACTER SET utf32"], rows: ["_utf32 0x0001F600", "_utf32 0x0000005C", "_utf32 0x00000061"] },
  { name: "char, ascii", columns: ["char(5) CHARACTER SET ascii"], rows: ["'a'", "'b'", "'ab'", "''"] },
  { name: "uuid", mariaDbOnly: true, columns: ["uuid"], rows: ["'123e4567-e89b-12d3-a456-426655440000'", "'00000000-0000-0000-0000-000000000000'", "'ffffffff-0000-0000-0000-000000000000'"] },
  { name: "inet6", mariaDbOnly: true, columns: ["inet6"], rows: ["'::'", "'::1'", "'ffff::'"] },
  { name: "composite, few distinct first columns", columns: ["tinyint", "int", "varchar(10) CHARACTER SET latin1"], rows: numbers(60, (i) => `${i % 3},${Math.floor(i / 9)},'k${i}'`) },
  { name: "composite at the minimum of the first column", columns: ["int", "bigint unsigned"], rows: ["-2147483648,0", "-2147483648,18446744073709551615", "2147483647,0", "2147483647,18446744073709551615", "0,0"] },
  { name: "composite with equal-but-different strings in front", columns: ["varchar(10) CHARACTER SET utf8mb4", "int"], rows: ["'a',1", "'A',2", "'a',3", "'A',4", "'á',5", "'b',1", "'B',0", "'a',9"] },
  { name: "composite with an enum inside", columns: ["int", "enum('x','y','z')", "int"], rows: numbers(30, (i) => `${i % 2},${(i % 4)},${i}`) },
  { name: "composite with an enum last", columns: ["int", "enum('x','y','z')"], rows: numbers(8, (i) => `${i % 2},${Math.floor(i / 2)}`) },
  { name: "descending primary key", columns: ["int"], index: "PRIMARY KEY (k0 DESC)", rows: numbers(9, String) },
  { name: "mixed directions", columns: ["int", "varchar(5) CHARACTER SET latin1", "enum('a','b','c')"], index: "PRIMARY KEY (k0, k1 DESC, k2 DESC)", rows: numbers(40, (i) => `${i % 3},'${i % 5}',${i % 4}`).filter((v, i, all) => all.indexOf(v) === i) },
  { name: "unique key without a primary key", columns: ["int", "char(3) CHARACTER SET latin1"], index: "UNIQUE KEY `the key` (k1, k0)", rows: numbers(20, (i) => `${i},'${i % 4}'`) },
  { name: "unique key that is not the clustered index", columns: ["int", "int"], index: "UNIQUE KEY u (k1)", rows: numbers(20, (i) => `${i},${(i * 7) % 20}`) },
  { name: "sixteen columns", columns: numbers(16, () => "tinyint"), rows: numbers(20, (i) => numbers(16, (j) => String((i >> (j % 5)) & 1)).concat().join(",")).map((v, i) => v.replace(/,\d+$/, `,${i}`)) },
];

/** Each type once more behind an int: row values compare in other ways than single ones. */
const BEHIND: KeyCase[] = CASES.filter((c) => c.columns.length === 1 && c.index === undefined && !/AUTO/.test(c.columns[0] as string)).map((c) => ({
  ...c, name: `int, ${c.name}`, columns: ["int", ...c.columns], rows: c.rows.flatMap((row) => [`1,${row}`, `2,${row}`]),
}));

describe("walking a key", () => {
  it.for([...CASES, ...BEHIND].map((c, i) => ({ ...c, i })))("$name", async ({ columns, index, rows, noRange, mysqlOnly, mariaDbOnly, i }, { skip }) => {
    using session = await server.open();
    skip(mysqlOnly === true && session.isMariaDb, "not on MariaDB");
    skip(mariaDbOnly === true && !session.isMariaDb, "MariaDB only");
    const table = `w${i}`;
    await session.run(TEXT_LITERALS);
    const key = index ?? `PRIMARY KEY (${columns.map((_, c) => `k${c}`).join(",")})`;
    // The key's columns stand apart and out of order, among others.
    const definitions = columns.map((type, c) => `k${c} ${type} NOT NULL, w${c} varchar(300) NULL`).reverse().join(", ");
    await session.run(utf8Sql(`CREATE TABLE ${table} (v0 varchar(300) NULL, ${definitions}, v9 int NOT NULL DEFAULT 3, ${key})`));
    const names = columns.map((_, c) => `k${c}`).join(",");
    const values = rows.map((row, n) => `(${row}, ${n % 3 === 0 ? "NULL" : `REPEAT('v', ${n * 20})`})`);
    await session.run(utf8Sql(`INSERT INTO ${table} (${names}, v0) VALUES ${values.join(",")}`));
    await session.run(BYTE_LITERALS);
    await session.run(`ANALYZE TABLE ${table}` as ByteSql).catch(() => undefined);
    using reader = await server.open();
    const definition = await definitionOf(reader, table);
    expect(definition.key?.columns.length).toBe(columns.length === 2 && index?.includes("(k1)") ? 1 : columns.length);
    await walk(reader, definition, rows.length, noRange ?? false);
  });
});

async function definitionOf(session: MysqlSession, table: string): Promise<TableDefinition> {
  const definition = await readTableDefinition(session, server.schema, table);
  if (!definition) throw new Error(`no table ${table}`);
  return definition;
}

async function walk(session: MysqlSession, definition: TableDefinition, count: number, noRange: boolean): Promise<void> {
  const { table } = definition;
  if (!definition.key) throw new Error("no key");
  const pull = keyOf(definition);
  const width = copiedColumns(definition).length;

  const whole = await textRows(session, chunkSelect(definition, { lower: null, upper: null }));
  expect(whole.length).toBe(count);
  for (const row of whole) expect(rowCells(row).length).toBe(width);
  const order = definition.indexes.find((i) => i.name === definition.key?.index)?.parts.map((p) => `\`${p.column}\`${p.descending ? " DESC" : ""}`).join(",");
  const independent = await session.rows(`SELECT CONCAT_WS('/', ${definition.key.columns.map((c) => `HEX(CONCAT(\`${c}\`))`).join(",")}) AS k FROM ${table} ORDER BY ${order}` as ByteSql);
  expect(independent.length).toBe(count);

  // Boundaries, some rows apart, are keys of the rows themselves.
  for (const step of [1, 2, 3]) {
    const bounds: (Buffer | null)[] = [null];
    for (;;) {
      const after = bounds.at(-1) as Buffer | null;
      const [next] = await textRows(session, boundaryQuery(definition, { after, rows: step }));
      if (!next) break;
      bounds.push(next);
      if (bounds.length > count + 1) throw new Error("the walk does not end");
    }
    expect(bounds.length - 1).toBe(Math.floor(count / step));
    for (const [n, bound] of bounds.entries()) if (bound) expect(bound.equals(pull(whole[n * step - 1] as Buffer))).toBe(true);
    bounds.push(null);
    const read: Buffer[] = [];
    for (let n = 1; n < bounds.length; n++) {
      const range = { lower: bounds[n - 1] as Buffer | null, upper: bounds[n] as Buffer | null };
      const statement = chunkSelect(definition, range);
      read.push(...(await textRows(session, statement)));
      if (range.lower || range.upper) await expectRange(session, statement, definition, noRange);
      if (range.lower && range.upper) {
        // An early stop leaves (last key, upper].
        const [first] = await textRows(session, `${statement} LIMIT 1` as ByteSql);
        const rest = await textRows(session, chunkSelect(definition, { lower: pull(first as Buffer), upper: range.upper }));
        expect(rest.length).toBe(step - 1);
      }
    }
    expect(Buffer.concat(read).equals(Buffer.concat(whole))).toBe(true);
  }

  const [last] = await textRows(session, maxKeyQuery(definition));
  expect(last?.equals(pull(whole.at(-1) as Buffer))).toBe(true);
  expect(await textRows(session, chunkSelect(definition, { lower: last as Buffer, upper: last as Buffer }))).toEqual([]);

  // By key: each alone, then some of them deleted, as text and as bytes.
  const keys = whole.map((row) => pull(row));
  for (const [n, key] of keys.entries()) expect(await textRows(session, rowsByKey(definition, [key]))).toEqual([whole[n]]);
  const gone = keys.filter((_, n) => n % 2 === 0);
  const statements = [...deleteStatements(definition, { schema: definition.schema, table }, gone.map((key, n) => (n % 2 ? key : key.toString("latin1"))), { maxBytes: 4096 })];
  if (count > 10) {
    const [few] = [...deleteStatements(definition, { schema: definition.schema, table }, gone.slice(0, 2), { maxBytes: 4096 })];
    const [plan] = await session.rows(`EXPLAIN ${session.isMariaDb ? "" : "FORMAT=TRADITIONAL"} ${few}` as ByteSql);
    expect(plan?.["type"], `${few}`).toBe("range");
    expect(plan?.["key"], `${few}`).toBe(definition.key.index);
  }
  for (const statement of statements) await session.run(statement);
  expect(await textRows(session, chunkSelect(definition, { lower: null, upper: null }))).toEqual(whole.filter((_, n) => n % 2 === 1));
}

/** The plan is a range on the key's index, in its order. */
async function expectRange(session: MysqlSession, statement: ByteSql, definition: TableDefinition, noRange: boolean): Promise<void> {
  const [plan] = await session.rows(`EXPLAIN ${session.isMariaDb ? "" : "FORMAT=TRADITIONAL"} ${statement}` as ByteSql);
  if (!session.isMariaDb) expect(plan?.["Extra"] ?? "").not.toMatch(/filesort|temporary/i);
  if (noRange || /Impossible WHERE|no matching row/i.test(plan?.["Extra"] ?? "")) return;
  expect(plan?.["key"], `${statement}`).toBe(definition.key?.index);
  expect(["range", "const", "ref"], `${plan?.["type"]}: ${statement}`).toContain(plan?.["type"]);
}
