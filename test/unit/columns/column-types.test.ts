import { expect, it } from "vitest";
import { columnType } from "../../../src/shared/columns/column-types.js";
import { enumMembers } from "../../../src/shared/columns/enum-members.js";
import { rowHashExpression } from "../../../src/shared/columns/row-hash.js";
import { cellBehind, rowCells, textRow } from "../../../src/shared/columns/text-row.js";
import { cells, column, table } from "./definitions.js";

it("names table, column and type of a type that it does not know", () => {
  expect(() => columnType({ schema: "shop", table: "orders" }, column("x", "toString(3)"))).toThrow("shop.orders: column x has the type toString(3), which Drover does not know");
});

it("counts the members of enums and sets", () => {
  expect(enumMembers("enum('a','it''s','','\\\\','a,b',''',''')")).toBe(6);
  expect(enumMembers("set('x')")).toBe(1);
});

it("bounds in the column's own form", () => {
  const bound = (type: string, cell: string, more = {}) => columnType({ schema: "s", table: "t" }, column("c", type, more)).bound?.(cell);
  expect(bound("bigint unsigned", "18446744073709551615")).toBe("18446744073709551615");
  expect(bound("bit(64)", "\xff\0\0\0\0\0\0\x01")).toBe("18374686479671623681");
  expect(bound("float", "1.5")).toBe("1.5e0");
  expect(bound("float", "1e20")).toBe("1e20");
  expect(bound("year", "0000")).toBe("'0000'");
  expect(bound("varchar(3)", "\x81\\", { charset: "gbk" })).toBe("_gbk'\x81\\\\'");
  expect(bound("varchar(3)", "a", { charset: "utf8" })).toBe("_utf8mb3'a'");
  expect(bound("binary(2)", "\0'")).toBe("_binary'\\0\\''");
  expect(bound(`set(${Array.from({ length: 64 }, (_, i) => `'${i}'`).join()})`, "18446744073709551615")).toBe("-1");
  expect(bound("json", "1")).toBeUndefined();
});

it("hashes an encoding that tells neighbours and NULLs apart", () => {
  const t = table([column("id", "int"), column("n", "int", { nullable: true }), column("u", "varchar(5)", { nullable: true }), column("l", "varchar(5)", { charset: "latin1" }), column("big", "longtext")], ["id"]);
  expect(rowHashExpression(t)).toBe(
    "SHA2(CONCAT(CAST(`id` AS BINARY),_binary X'FF',IFNULL(`n`,''),_binary X'FF',IFNULL(`u`,CAST(X'FE' AS BINARY)),_binary X'FF',LENGTH(`l`),_binary X'FF',`l`,SHA2(`big`,256),_binary X'FF'),256)",
  );
});

it("steps over cells of every length class", () => {
  const values = [null, "", "a", "b".repeat(250), "c".repeat(251), "d".repeat(65_535), "e".repeat(65_536), null, "f".repeat(1 << 24)];
  const row = textRow(cells(...values));
  let offset = 0;
  for (const _ of values) offset = cellBehind(row, offset);
  expect(offset).toBe(row.length);
  expect(rowCells(row).map((c) => c?.length ?? null)).toEqual(values.map((v) => v?.length ?? null));
});
