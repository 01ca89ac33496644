import { expect, it } from "vitest";
import type { ColumnDefinition, TableDefinition } from "../../../src/shared/columns/table-definition.js";
import type { BinlogColumn } from "../../../src/workers/binlog/events.js";
import { shapeDifference } from "../../../src/workers/tail/shape-difference.js";

const naming = { ignoreCase: false, collations: new Map([[45, "utf8mb4_general_ci"], [255, "utf8mb4_0900_ai_ci"], [33, "utf8mb3_general_ci"], [63, "binary"]]) };
const column = (name: string, dataType: string, more: Partial<ColumnDefinition> = {}): ColumnDefinition => ({
  name, dataType, columnType: dataType, charset: null, collation: null, nullable: false, unsigned: false, generated: null, invisible: false, autoIncrement: false, ...more,
});
const logged = (name: string, more: Partial<BinlogColumn> = {}): BinlogColumn => ({ name, type: 3, metadata: 0, unsigned: false, collation: null, nullable: false, ...more });

function difference(columns: ColumnDefinition[], binlog: BinlogColumn[]): string | null {
  const definition: TableDefinition = { schema: "s", table: "t", engine: "InnoDB", columns, indexes: [], key: null, createStatement: "", rowsEstimated: 0, rowBytesEstimated: 0 };
  return shapeDifference(definition, { schema: "s", table: "t", columns: binlog }, naming);
}

it.each([
  ["the same", [column("id", "int"), column("v", "varchar", { collation: "utf8mb4_0900_ai_ci", nullable: true })], [logged("ID"), logged("v", { collation: 255, nullable: true })], null],
  ["a generated column more than travels", [column("id", "int"), column("g", "int", { generated: "virtual" })], [logged("id"), logged("g")], null],
  ["utf8 and utf8mb3", [column("v", "varchar", { collation: "utf8_general_ci" })], [logged("v", { collation: 33 })], null],
  ["a blob", [column("v", "mediumblob")], [logged("v", { collation: 63 })], null],
  ["an unknown collation", [column("v", "varchar", { collation: "utf8mb4_bin" })], [logged("v", { collation: 999 })], null],
  ["a column more", [column("id", "int")], [logged("id"), logged("x")], "x"],
  ["a column less", [column("id", "int"), column("x", "int")], [logged("id")], "x"],
  ["another collation", [column("v", "varchar", { collation: "utf8mb4_0900_ai_ci" })], [logged("v", { collation: 45 })], "v: has the collation utf8mb4_general_ci"],
  ["bytes instead of text", [column("v", "text", { collation: "utf8mb4_0900_ai_ci" })], [logged("v", { collation: 63 })], "v: has the collation binary"],
  ["text instead of bytes", [column("v", "blob")], [logged("v", { collation: 45 })], "v: has the collation utf8mb4_general_ci"],
  ["a sign", [column("n", "bigint", { unsigned: true })], [logged("n")], "n: is signed"],
  ["NULL", [column("ts", "timestamp", { nullable: true })], [logged("ts")], "ts: is NOT NULL"],
] as const)("%s", (_name, columns, binlog, expected) => {
  expect(difference([...columns], [...binlog])).toBe(expected);
});
