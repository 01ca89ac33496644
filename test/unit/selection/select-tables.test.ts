import { describe, expect, it } from "vitest";
import { parseMigrationSpec } from "../../../src/shared/contracts/spec.js";
import { selectTables } from "../../../src/shared/selection/resolve-tables.js";
import type { SourceNames } from "../../../src/shared/selection/source-tables.js";

const SHOP = { orders: "BASE TABLE", items: "BASE TABLE", "Odd.`na\"me%": "BASE TABLE", tmp_1: "BASE TABLE", tmp_2: "BASE TABLE", totals: "VIEW", seq: "SEQUENCE", old: "SYSTEM VERSIONED" };

function names(ignoreCase = false): SourceNames {
  const fold = (name: string) => (ignoreCase ? name.toLowerCase() : name);
  return { ignoreCase, schema: (name) => (fold(name) === "shop" ? { name: "shop", tables: new Map(Object.entries(SHOP)) } : null) };
}

function select(tables: unknown[], ignoreCase = false) {
  const { tables: selected, problems, passedOver } = selectTables(names(ignoreCase), parseMigrationSpec({ id: "m", source: "SRC", target: "DST", tables }), "SRC");
  return { tables: selected.map((t) => `${t.source.schema}.${t.source.table} > ${t.target.schema}.${t.target.table}`), problems: problems.map((p) => p.code), texts: problems.map((p) => p.message), passedOver, selected };
}

describe("selectTables", () => {
  it("takes the base tables that a pattern matches, in an order that no server decides", () => {
    const found = select([{ schema: "shop", exclude: ["tmp_*", "old"], targetSchema: "shop2" }]);
    expect(found.tables).toEqual(['shop.Odd.`na"me% > shop2.Odd.`na"me%', "shop.items > shop2.items", "shop.orders > shop2.orders"]);
    expect(found.problems).toEqual([]);
    expect(found.passedOver).toEqual(["shop.seq", "shop.totals"]);
  });

  it("takes a table by its name, with its filter and its new place", () => {
    const found = select([{ schema: "shop", table: 'Odd.`na"me%', targetTable: "even", where: "a = 1" }]);
    expect(found.selected).toEqual([{ source: { schema: "shop", table: 'Odd.`na"me%' }, target: { schema: "shop", table: "even" }, where: "a = 1" }]);
  });

  it("takes a table once when two patterns of one entry match it", () => {
    expect(select([{ schema: "shop", include: ["ord*", "*ers"] }]).tables).toEqual(["shop.orders > shop.orders"]);
  });

  it("names a missing schema once, and every missing table", () => {
    const found = select([{ schema: "crm", table: "a" }, { schema: "crm", table: "b" }, { schema: "shop", table: "gone" }, { schema: "shop", include: ["away", "items"] }]);
    expect(found.problems).toEqual(["schema-missing", "table-missing", "table-missing"]);
    expect(found.texts.join()).toMatch(/crm.*shop\.gone.*shop\.away/s);
    expect(found.tables).toEqual(["shop.items > shop.items"]);
  });

  it("does not take a pattern that matches nothing for an empty migration", () => {
    expect(select([{ schema: "shop", include: ["x*"] }]).problems).toEqual(["pattern-empty"]);
    expect(select([{ schema: "shop", include: ["tmp_*"], exclude: ["tmp_?"] }]).problems).toEqual(["pattern-empty"]);
    expect(select([{ schema: "shop", include: ["tot*"] }]).problems).toEqual(["pattern-empty"]);
  });

  it("refuses a view that is called by its name, and a table whose history would be lost however it is called", () => {
    expect(select([{ schema: "shop", table: "totals" }]).problems).toEqual(["table-kind"]);
    expect(select([{ schema: "shop", include: ["totals"] }]).problems).toEqual(["table-kind"]);
    expect(select([{ schema: "shop", include: ["ol*"] }]).problems).toEqual(["table-kind"]);
  });

  it("refuses two tables with one target, and one table twice", () => {
    expect(select([{ schema: "shop", table: "orders", targetTable: "items" }, { schema: "shop", include: ["items"] }]).problems).toEqual(["target-selected-twice"]);
    expect(select([{ schema: "shop", include: ["orders"] }, { schema: "shop", table: "orders", targetTable: "other" }]).problems).toEqual(["table-selected-twice"]);
  });

  it("writes names as the server does where case does not count", () => {
    expect(select([{ schema: "SHOP", table: "Orders" }], true).tables).toEqual(["shop.orders > SHOP.Orders"]);
    expect(select([{ schema: "SHOP", table: "Orders" }], false).problems).toEqual(["schema-missing"]);
    expect(select([{ schema: "shop", table: "items", targetTable: "ORDERS" }, { schema: "shop", include: ["orders"] }], true).problems).toEqual(["target-selected-twice"]);
  });
});
