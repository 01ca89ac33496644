/**
 * Every kind of row key, and of unique key, end to end: copied in chunks of a few rows while the source writes, applied during the
 * copy (the backlog is tiny), followed, compared by the diff and without it. One migration for all kinds (cases 18–24).
 */
import type { Connection } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { DiffReport } from "../../src/shared/contracts/diff.js";
import { FaultScene } from "../support/fault-scene.js";
import { Dice, randomTransaction, type HistoryTable } from "./keys-history.js";

const numbers = (n: number, f: (i: number) => string) => Array.from({ length: n }, (_, i) => f(i));
const one = (name: string, type: string, values: readonly string[]): HistoryTable => ({ name, body: `k ${type} NOT NULL PRIMARY KEY`, values: { k: values } });

const utf8 = (collation: string, length = 20) => `VARCHAR(${length}) CHARACTER SET utf8mb4 COLLATE ${collation}`;
const EQUAL_TEXTS = ["'a'", "'A'", "'á'", "'a '", "'b'", "'B '", "'e'", "'é'", "'É'", "'ss'", "'ß'", "'x'", "'x '", "'X  '", "''", "' '", "'zz'"];

/** By case: what its tables are. */
const CASES: [string, HistoryTable[]][] = [
  ["strings that are equal in case, accents or spaces only (case 18)", [
    one("ci", utf8("utf8mb4_0900_ai_ci"), EQUAL_TEXTS),
    one("padded", utf8("utf8mb4_general_ci"), EQUAL_TEXTS),
    one("unicode_520", utf8("utf8mb4_unicode_520_ci"), EQUAL_TEXTS),
    one("swedish", "VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_swedish_ci", [...EQUAL_TEXTS, "_latin1 0xff", "_latin1 0x81"]),
    one("fixed", "CHAR(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci", EQUAL_TEXTS),
    one("binary_padded", utf8("utf8mb4_bin"), EQUAL_TEXTS),
    { name: "ci_first", body: `s ${utf8("utf8mb4_0900_ai_ci")} NOT NULL, n TINYINT NOT NULL, PRIMARY KEY (s, n)`, values: { s: EQUAL_TEXTS, n: ["1", "2", "3"] } },
  ]],
  ["BIGINT UNSIGNED beyond 2^53 and 2^63, and at the limit (case 19)", [
    one("big", "BIGINT UNSIGNED", ["0", "1", "9007199254740991", "9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808", "9223372036854775809", "18446744073709551614", "18446744073709551615"]),
    one("signed", "BIGINT", ["-9223372036854775808", "-9223372036854775807", "-1", "0", "9007199254740993", "9223372036854775806", "9223372036854775807"]),
  ]],
  ["composite keys with few distinct first columns (case 20)", [
    { name: "tuple", body: "a TINYINT NOT NULL, b BIGINT UNSIGNED NOT NULL, c VARCHAR(5) CHARACTER SET latin1 NOT NULL, PRIMARY KEY (a, b, c)", values: { a: ["-128", "127"], b: ["0", "1", "18446744073709551615"], c: ["''", "'q'", "'Q'", "'r '"] } },
    { name: "turned", body: "a INT NOT NULL, b DATE NOT NULL, PRIMARY KEY (b DESC, a)", values: { a: numbers(6, String), b: ["'2024-01-01'", "'0000-00-00'"] } },
  ]],
  ["binary, temporal, enumerated and fractional keys (case 22)", [
    one("uuids", "BINARY(16)", ["0x00", "0x01", "0x0100000000000000000000000000FF00", "0x20", "0xffffffffffffffffffffffffffffff00", "0x275c0a0d1a001d1e1f"]),
    one("bytes", "VARBINARY(20)", ["''", "0x00", "0x0000", "0x01", "0x20", "0x2020", "0x5c27", "0xff"]),
    one("bits", "BIT(64)", ["0", "1", "255", "x'0a'", "x'5c27'", "9223372036854775808", "18446744073709551615"]),
    one("enums", "ENUM('z','a','','m')", ["1", "2", "3", "4"]),
    one("sets", "SET('a','b','c')", numbers(8, String)),
    one("decimals", "DECIMAL(40,20)", ["0", "-0.00000000000000000001", "1.5", "99999999999999999999.9", "-1", "12345678901234567890.12345678901234567890"]),
    one("moments", "DATETIME(6)", ["'0000-00-00'", "'2023-00-15 01:02:03.000001'", "'2024-01-01 00:00:00.5'", "'2024-01-01 00:00:00.500001'", "'9999-12-31 23:59:59.999999'"]),
    one("days", "DATE", ["'0000-00-00'", "'2023-00-15'", "'2023-02-30'", "'2024-01-01'", "'9999-12-31'"]),
    one("times", "TIME(3)", ["'-838:59:59'", "'-00:00:00.5'", "'0'", "'00:00:00.001'", "'838:59:59'"]),
    one("years", "YEAR", ["'0000'", "1901", "2000", "2155"]),
    one("stamps", "TIMESTAMP(6)", ["'0000-00-00'", "'1990-01-01 00:00:01.5'", "'2023-03-26 02:30:00'", "'2023-10-29 02:30:00'", "'2038-01-18 03:14:07.499999'"]),
    one("floats", "FLOAT", ["0", "1.1", "-2.5", "3.4028234e38", "1e-38", "16777217", "0.1"]),
    one("doubles", "DOUBLE", ["0", "1.1", "-2.5", "1.7976931348623157e308", "5e-324", "9007199254740993", "0.1", "1e22"]),
  ]],
  ["id 0 in an AUTO_INCREMENT column, and negative ids (case 23)", [
    { name: "counted", body: "id INT NOT NULL AUTO_INCREMENT PRIMARY KEY", values: { id: ["0", "-5", "-1", "1", "2", "NULL", "77"] } },
  ]],
  ["a NOT NULL unique key in place of a primary key (case 24)", [
    { name: "no_primary", body: `a INT NULL, b ${utf8("utf8mb4_0900_ai_ci")} NOT NULL, UNIQUE KEY first_nullable (a), UNIQUE KEY u (b)`, values: { a: ["NULL", "1", "2", "3"], b: EQUAL_TEXTS } },
    { name: "prefix_primary", body: "a VARCHAR(10) NOT NULL, n INT NOT NULL, PRIMARY KEY (a(1)), UNIQUE KEY u (n)", values: { a: ["'ax'", "'ay'", "'Ab'", "'b'", "'c'"], n: numbers(7, String) } },
  ]],
  ["unique values that move between rows, also where they are equal in the collation only (case 34)", [
    { name: "moving", body: `id INT NOT NULL PRIMARY KEY, u ${utf8("utf8mb4_0900_ai_ci")} NULL UNIQUE`, values: { id: numbers(12, String), u: [...EQUAL_TEXTS, "NULL"] } },
    { name: "moving_padded", body: `id INT NOT NULL PRIMARY KEY, u ${utf8("utf8mb4_general_ci")} NULL UNIQUE`, values: { id: numbers(12, String), u: [...EQUAL_TEXTS, "NULL"] } },
    { name: "both_move", body: `k ${utf8("utf8mb4_0900_ai_ci")} NOT NULL PRIMARY KEY, u INT NOT NULL UNIQUE`, values: { k: EQUAL_TEXTS, u: numbers(8, String) } },
    { name: "two_uniques", body: "id INT NOT NULL PRIMARY KEY, p INT NULL UNIQUE, q INT NULL UNIQUE", values: { id: numbers(10, String), p: [...numbers(6, String), "NULL"], q: [...numbers(6, String), "NULL"] } },
    { name: "unique_prefix", body: `id INT NOT NULL PRIMARY KEY, u ${utf8("utf8mb4_0900_ai_ci", 30)} NULL, UNIQUE KEY (u(2))`, values: { id: numbers(10, String), u: ["'ab1'", "'AB2'", "'áb3'", "'a'", "'cd'", "'cde'", "NULL"] } },
    { name: "unique_function", body: `id INT NOT NULL PRIMARY KEY, u ${utf8("utf8mb4_bin", 30)} NULL, UNIQUE KEY ((LOWER(u)))`, values: { id: numbers(10, String), u: ["'ab'", "'AB'", "'aB'", "'c'", "'C'", "NULL"] } },
    { name: "unique_generated", body: "id INT NOT NULL PRIMARY KEY, n INT NULL, g INT GENERATED ALWAYS AS (n DIV 2) STORED UNIQUE", values: { id: numbers(10, String), n: [...numbers(8, String), "NULL"] } },
  ]],
  // MySQL logs these changes of children from 9.6 on; check refuses older servers, where it does not.
  ["children that foreign keys change: ON DELETE and ON UPDATE CASCADE and SET NULL", [
    { name: "parents", body: "id INT NOT NULL PRIMARY KEY", values: { id: numbers(12, String) } },
    { name: "cascading", body: "id INT NOT NULL PRIMARY KEY, p INT NULL, FOREIGN KEY (p) REFERENCES parents (id) ON DELETE CASCADE ON UPDATE CASCADE", values: { id: numbers(14, String), p: [...numbers(12, String), "NULL"] } },
    { name: "nulled", body: "id INT NOT NULL PRIMARY KEY, p INT NULL, FOREIGN KEY (p) REFERENCES parents (id) ON DELETE SET NULL ON UPDATE SET NULL", values: { id: numbers(14, String), p: [...numbers(12, String), "NULL"] } },
  ]],
];
const TABLES = CASES.flatMap(([, tables]) => tables);

const SPARSE_ROWS = 1_000;
const SPARSE_CHUNK = 50;

function tableStatements(table: HistoryTable, dice: Dice): string {
  const names = Object.keys(table.values);
  const rows = Array.from({ length: 14 }, () => `(${names.map((name) => dice.of(table.values[name] as readonly string[])).join(",")},${dice.below(1000)})`);
  return `CREATE TABLE ${table.name} (${table.body}, v INT NULL); INSERT IGNORE INTO ${table.name} (${names.join(",")},v) VALUES ${rows.join(",")};`;
}

const SESSION = "SET SESSION sql_mode='NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES', time_zone='+03:00'";

let scene: FaultScene;
let writer: Connection;
let differences: string[];
let report: DiffReport;
let appliedDuringCopy = 0;

beforeAll(async () => {
  const dice = new Dice(Number(process.env["DROVER_TEST_SEED"] ?? 20_261_201));
  const sparse = `CREATE TABLE sparse (id BIGINT NOT NULL PRIMARY KEY, v INT); INSERT INTO sparse WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<${SPARSE_ROWS - 1}) SELECT i*1000000000000, i FROM n;`;
  scene = await FaultScene.open(inject("servers"), `${SESSION}; ${TABLES.map((table) => tableStatements(table, dice)).join("\n")} ${sparse}`);
  writer = await scene.connect();
  await writer.query(SESSION);
  let copied = false;
  let given = false;
  let turn = Promise.resolve();
  const write = (times: number) => (turn = turn.then(async () => {
    for (let i = 0; i < times; i++) await writer.query(randomTransaction(TABLES, dice));
  }));
  await scene.worker({
    at: async (point, detail) => {
      // An id that is given and gone again before its table is copied.
      if (point === "chunk:before-read" && !given) {
        given = true;
        await (turn = turn.then(() => writer.query("BEGIN; INSERT INTO counted VALUES (5000, 1); DELETE FROM counted WHERE id=5000; COMMIT")).then(() => undefined));
      }
      // The rows have been read: what is written now is behind the read, and in the binlog.
      if (point === "chunk:after-read" && detail["migration"] === "m" && !copied) await write(3);
      if (point === "batch:after-commit" && detail["migration"] === "m" && !copied) appliedDuringCopy += 1;
    },
  });
  await scene.start({ chunkRows: 6, copyConcurrency: 8, backlogBytes: "32KiB", batchRows: 40 }, "m", [{ schema: scene.schema, exclude: ["sparse"] }]);
  await scene.start({ chunkRows: SPARSE_CHUNK }, "sparse", [{ schema: scene.schema, table: "sparse" }]);
  await scene.phase("streaming", 120_000);
  await scene.client.waitFor("sparse", "streaming", { timeout: 60_000 });
  copied = true;
  await write(300);
  differences = await scene.differences();
  report = await scene.client.waitForDiff("m", (await scene.client.startDiff("m")).diffId, { timeout: 60_000 });
}, 240_000);

afterAll(async () => {
  writer?.destroy();
  await scene?.[Symbol.asyncDispose]();
});

describe("keys, copied and followed", () => {
  it.each(CASES)("%s", async (_name, tables) => {
    for (const { name } of tables) {
      expect(differences.filter((line) => line.startsWith(`${name}:`))).toEqual([]);
      const compared = report.tables.find((table) => table.source === `${scene.schema}.${name}`);
      const [count] = await scene.sql<{ n: number }>("source", `SELECT COUNT(*) AS n FROM ${scene.schema}.${name}`);
      expect(count?.n).toBeGreaterThan(0);
      expect(compared).toMatchObject({ state: "completed", rowsCompared: count?.n, matching: count?.n, mismatched: 0, missingOnTarget: 0, extraOnTarget: 0, inconclusive: 0 });
    }
  });

  it("sparse integer keys: a thousand rows over 10^15 make no empty chunks and no endless look-ups (case 21)", async () => {
    const [chunks] = await scene.state<{ n: number; empty_ones: number }>(`SELECT COUNT(*) AS n, SUM(row_count=0) AS empty_ones FROM @state.chunks AS c JOIN @state.tables AS t ON t.number=c.table_number AND t.migration=c.migration WHERE t.source_table='sparse'`);
    expect(Number(chunks?.n)).toBe(Math.ceil(SPARSE_ROWS / SPARSE_CHUNK));
    expect(Number(chunks?.empty_ones)).toBe(0);
    const [statements] = await scene.sql<{ n: number }>("source", `SELECT SUM(COUNT_STAR) AS n FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT LIKE '%${scene.schema}%sparse%FORCE INDEX%'`);
    // A look-up and a read for each chunk, and the largest key; some of them twice.
    expect(Number(statements?.n)).toBeGreaterThan(SPARSE_ROWS / SPARSE_CHUNK);
    expect(Number(statements?.n)).toBeLessThan((SPARSE_ROWS / SPARSE_CHUNK) * 4);
    expect(differences).toEqual([]);
  });

  it("batches were applied in the middle of the copy", () => {
    expect(appliedDuringCopy).toBeGreaterThan(3);
  });

  it("the AUTO_INCREMENT counter is the source's, ids whose rows are gone included", async () => {
    const counter = async (side: "source" | "target") => {
      const [row] = await scene.sql<{ "Create Table": string }>(side, `SHOW CREATE TABLE ${scene.schema}.counted`);
      return Number(/AUTO_INCREMENT=(\d+)/.exec(row?.["Create Table"] ?? "")?.[1]);
    };
    const source = await counter("source");
    expect(source).toBeGreaterThan(5_000);
    expect(await counter("target")).toBeGreaterThanOrEqual(5_001);
  });
});
