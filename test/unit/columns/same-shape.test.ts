import { expect, it } from "vitest";
import { sameShape } from "../../../src/shared/columns/same-shape.js";
import type { ColumnDefinition } from "../../../src/shared/columns/table-definition.js";
import { column, index, table } from "./definitions.js";

const source = table([column("id", "int"), column("c", "varchar(10)", { nullable: true }), column("g", "int", { generated: "stored" })], ["id"]);
const codes = (columns: ColumnDefinition[], more = {}) => sameShape(source, table(columns, ["id"], more)).map((p) => p.code);
const [id, c, g] = source.columns as [ColumnDefinition, ColumnDefinition, ColumnDefinition];

it("lets pass what does not change rows", () => {
  expect(codes([{ ...g }, { ...c, name: "C" }, { ...id, columnType: "int(11)" }])).toEqual([]);
  expect(codes([id, c])).toEqual([]);
  expect(sameShape(table([column("a", "varchar(5)", { charset: "utf8", collation: "utf8_bin" })], ["a"]), table([column("a", "varchar(5)", { charset: "utf8mb3", collation: "utf8mb3_bin" })], ["a"]))).toEqual([]);
});

it("names every difference that does", () => {
  expect(codes([id, g])).toEqual(["target-column-missing"]);
  expect(codes([id, c, g, column("x", "int")])).toEqual(["target-column-extra"]);
  expect(codes([id, { ...c, columnType: "varchar(9)" }, g])).toEqual(["target-column-differs"]);
  expect(codes([id, { ...c, nullable: false }, g])).toEqual(["target-column-differs"]);
  expect(codes([id, { ...c, collation: "utf8mb4_bin" }, g])).toEqual(["target-column-differs"]);
  expect(codes([id, { ...c, generated: "virtual" }, g])).toEqual(["target-column-differs"]);
  expect(codes([{ ...id, columnType: "int unsigned" }, c, g])).toEqual(["target-column-differs"]);
  expect(codes([id, c, g], { key: { index: "PRIMARY", columns: ["c"] } })).toEqual(["target-key-differs"]);
  expect(codes([id, c, g], { key: null })).toEqual(["target-key-differs"]);
  expect(codes([id, c, g], { indexes: [...source.indexes, index("u", ["c"])] })).toEqual(["target-unique-extra"]);
  expect(sameShape(source, table([id, { ...c, columnType: "text" }, g], ["id"]))[0]?.message).toBe("shop.orders: column c is text, in the source varchar(10)");
});
