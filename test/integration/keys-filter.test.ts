/** Filters mean text, whatever the columns' character sets; hashes are of bytes, whatever stands beside them (cases 17, 28). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BYTE_LITERALS, TEXT_LITERALS } from "../../src/shared/columns/literals.js";
import { LoadWriter } from "../../src/shared/columns/load-writer.js";
import { readTableDefinition } from "../../src/shared/columns/read-table.js";
import type { TableDefinition } from "../../src/shared/columns/table-definition.js";
import { rowCells, textRow } from "../../src/shared/columns/text-row.js";
import { boundaryQuery } from "../../src/shared/keys/boundary-query.js";
import { chunkHashOf, chunkHashQuery, rowHashSelect, sameHash, type ChunkHash } from "../../src/shared/keys/chunk-hash.js";
import { BINARY_NAMES, chunkSelect, FILTER_NAMES } from "../../src/shared/keys/chunk-select.js";
import { keyIn } from "../../src/shared/keys/key-predicate.js";
import { sql, utf8Sql, type ByteSql } from "../../src/shared/mysql/bytes.js";
import type { MysqlSession } from "../../src/shared/mysql/mysql-session.js";
import { testSchema, textRows, type TestSchema } from "./columns-server.js";

let server: TestSchema;
beforeAll(async () => {
  server = await testSchema();
});
afterAll(() => server[Symbol.asyncDispose]());

async function made(session: MysqlSession, name: string, body: string, ...inserts: string[]): Promise<TableDefinition> {
  await session.run(TEXT_LITERALS);
  await session.run(utf8Sql(`CREATE TABLE ${name} ${body}`));
  for (const values of inserts) await session.run(utf8Sql(`INSERT INTO ${name} VALUES ${values}`));
  await session.run(BYTE_LITERALS);
  const definition = await readTableDefinition(session, server.schema, name);
  if (!definition) throw new Error("no table");
  return definition;
}

const whole = { lower: null, upper: null };
const hashOf = async (session: MysqlSession, definition: TableDefinition, where: string | null = null): Promise<ChunkHash> =>
  chunkHashOf((await session.rows(chunkHashQuery(definition, { ...whole, where }, session)))[0]);

describe("filters", () => {
  it("compare as text, and leave cells and literals of bytes alone", async () => {
    using session = await server.open();
    const definition = await made(
      session, "filtered",
      "(b varbinary(4) PRIMARY KEY, l varchar(10) CHARACTER SET latin1, u varchar(10) CHARACTER SET utf8mb4, g varchar(10) CHARACTER SET gbk, d date)",
      "(0x00ff, 'é', 'é', '中', '2024-01-01'), (0x01, 'E', 'E', 'x', NULL), (0x02, 'z', 'z', 'z', '2023-01-01')",
    );
    const keys = async (where: string, lower: Buffer | null = null) => {
      await session.run(FILTER_NAMES);
      const rows = await textRows(session, chunkSelect(definition, { lower, upper: null, where }));
      const [last] = await textRows(session, boundaryQuery(definition, { after: lower, rows: Math.max(1, rows.length), where }));
      const hash = await hashOf(session, definition, where);
      const byKey = rows.length === 0 ? [] : await textRows(session, sql`SELECT b FROM filtered WHERE ${keyIn(definition, [textRow([rowCells(rows[0] as Buffer)[0] as Buffer])])} AND (\n${utf8Sql(where)}\n) IS TRUE`);
      await session.run(BINARY_NAMES);
      expect(byKey.length).toBe(Math.min(rows.length, 1));
      if (lower === null) expect(hash.rows).toBe(rows.length);
      if (rows.length > 0) expect(rowCells(last as Buffer)[0]).toEqual(rowCells(rows.at(-1) as Buffer)[0]);
      return rows.map((row) => rowCells(row)[0]?.toString("hex"));
    };
    expect(await keys("l = 'é'")).toEqual(["00ff", "01"]);
    expect(await keys("u = 'É' -- in any case")).toEqual(["00ff", "01"]);
    expect(await keys("g = '中'")).toEqual(["00ff"]);
    expect(await keys("u IN ('z', 'é') OR FALSE", textRow([Buffer.from([0, 0xff])]))).toEqual(["01", "02"]);
    expect(await keys("d > '2023-06-01'")).toEqual(["00ff"]);
    expect(await keys("l = 'nothing'")).toEqual([]);
    const [row] = await textRows(session, chunkSelect(definition, whole));
    expect(rowCells(row as Buffer).map((c) => c?.toString("hex"))).toEqual(["00ff", "e9", "c3a9", "d6d0", Buffer.from("2024-01-01").toString("hex")]);
  });
});

describe("hashes", () => {
  it("see bytes, not characters, beside columns of other character sets", async () => {
    using session = await server.open();
    const columns = "(id int PRIMARY KEY, a varchar(9) CHARACTER SET latin1, b varchar(9) CHARACTER SET utf8mb4, c varchar(9) CHARACTER SET utf16, d varbinary(9), e varchar(9) CHARACTER SET gbk, f char(3) CHARACTER SET ascii, n int, t timestamp NULL, j varchar(9) CHARACTER SET koi8r NOT NULL DEFAULT '')";
    const one = await made(session, "hash1", columns, "(1, _latin1 0xe9, 'é', 'é', 0xc3a9, _gbk 0xa8a6, 'x', 5, '2024-01-01', _koi8r 0xc0)");
    const hash = await hashOf(session, one);
    expect(hash.digest).toMatch(/^[0-9A-F]{32}([0-9A-F]{32})?$/);
    for (const change of ["a = _latin1 0xc9", "a = _latin1 0xc3a9", "a = 'e'", "b = 'e'", "b = 'É'", "b = NULL", "b = ''", "c = _utf16 0x00e8", "d = 0xe9", "d = 0xc3a900", "d = NULL", "e = NULL", "e = ''", "e = _gbk 0xa8a7", "f = ' x'", "f = NULL", "n = NULL", "n = 0", "t = NULL", "j = _koi8r 0xc1", "a = NULL, f = NULL"]) {
      await session.run("START TRANSACTION" as ByteSql);
      await session.run(`UPDATE hash1 SET ${change.replace("É", "\xc3\x89")}`.replace("b = '", "b = _utf8mb4'") as ByteSql);
      expect(sameHash(hash, await hashOf(session, one)), `${change}`).toBe(false);
      await session.run("ROLLBACK" as ByteSql);
    }
    expect(sameHash(hash, await hashOf(session, one))).toBe(true);
  });

  it("tell neighbours apart that read the same together, and NULL from empty", async () => {
    using session = await server.open();
    for (const [i, type] of ["varchar(20) CHARACTER SET utf8mb4", "varchar(20) CHARACTER SET latin1", "varbinary(20)", "longtext", "varchar(20) CHARACTER SET utf16"].entries()) {
      const definition = await made(session, `near${i}`, `(id int PRIMARY KEY, a ${type} NULL, b ${type} NULL, c ${type} NULL)`, "(1, 'x0', 'y', ''), (2, 'x', '0y', ''), (3, 'x0y', '', ''), (4, '', 'x0y', NULL), (5, '', 'x0y', ''), (6, NULL, 'x0y', ''), (7, NULL, NULL, 'x0y'), (8, '1', '2', '3'), (9, '12', '', '3'), (10, NULL, NULL, NULL), (11, '', '', ''), (12, '0', NULL, '0')");
      const values = definition.columns.filter((c) => c.name !== "id");
      const rows = await textRows(session, rowHashSelect(definition, whole, values));
      expect(rows.length).toBe(12);
      expect(new Set(rows.map((row) => rowCells(row)[1]?.toString("hex"))).size).toBe(12);
      expect(rowCells(rows[0] as Buffer)[1]?.length).toBe(32);
    }
  });

  it("are of no rows where there are none, and differ by the count", async () => {
    using session = await server.open();
    const empty = await made(session, "hash_empty", "(id int PRIMARY KEY)");
    const none = await hashOf(session, empty);
    expect(none).toEqual({ rows: 0, digest: "" });
    await session.run("INSERT INTO hash_empty VALUES (1)" as ByteSql);
    expect(sameHash(none, await hashOf(session, empty))).toBe(false);
  });

  it("are the same from the wide and from the narrow aggregate", async () => {
    using session = await server.open();
    const definition = await made(session, "wide", "(id int PRIMARY KEY, v varchar(99))", "(1, 'a'), (2, 'b'), (3, NULL), (4, 'long')");
    const narrow = chunkHashOf((await session.rows(chunkHashQuery(definition, whole, { isMariaDb: true, version: "10.11" })))[0]);
    const wide = await hashOf(session, definition);
    expect(narrow.digest.length).toBe(32);
    expect(sameHash(wide, narrow)).toBe(true);
    await session.run("UPDATE wide SET v = 'c' WHERE id = 2" as ByteSql);
    expect(sameHash(await hashOf(session, definition), narrow)).toBe(false);
  });
});

describe("LOAD DATA", () => {
  it("takes tables of one column, with empty values and with NULL only", async () => {
    using session = await server.open();
    const definition = await made(session, "single", "(k varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY)");
    const load = new LoadWriter(definition, { schema: server.schema, table: "single" });
    for (const value of ["", "\\N", "a", "\x1d\x1e\x1f", "\0"]) load.add(textRow([Buffer.from(value)]));
    const file = load.finish();
    if (!file) throw new Error("no file");
    expect(await session.load(file.statement, file.chunks)).toMatchObject({ affectedRows: 5, warnings: 0 });
    expect((await session.rows("SELECT HEX(k) AS k FROM single ORDER BY k" as ByteSql)).map((r) => r["k"])).toEqual(["", "00", "1D1E1F", "5C4E", "61"]);
    // Again: replaced rows count twice, or once when the server finds them unchanged.
    const again = await session.load(file.statement, file.chunks);
    expect(again.warnings).toBe(0);
    expect(again.affectedRows).toBeGreaterThanOrEqual(5);
  });
});
