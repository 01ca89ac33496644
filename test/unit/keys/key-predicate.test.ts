import { describe, expect, it } from "vitest";
import { textRow } from "../../../src/shared/columns/text-row.js";
import { boundaryQuery, maxKeyQuery } from "../../../src/shared/keys/boundary-query.js";
import { sameHash } from "../../../src/shared/keys/chunk-hash.js";
import { chunkSelect } from "../../../src/shared/keys/chunk-select.js";
import { deleteStatements } from "../../../src/shared/keys/delete-statements.js";
import { keyOf } from "../../../src/shared/keys/key-of.js";
import { keyPredicate } from "../../../src/shared/keys/key-predicate.js";
import { cells, column, table } from "../columns/definitions.js";

const key = (...values: string[]) => textRow(cells(...values));
const one = table([column("id", "int"), column("v", "int")], ["id"]);
const three = table([column("v", "int", { nullable: true }), column("c", "varchar(9)"), column("a", "int"), column("b", "int")], ["a", "b", "c"]);

describe("keyPredicate", () => {
  it("is null for the whole table", () => expect(keyPredicate(one, { lower: null, upper: null })).toBeNull());

  it("is half-open", () => {
    expect(keyPredicate(one, { lower: key("-1"), upper: key("7") })).toBe("`id`>-1 AND `id`<=7");
    expect(keyPredicate(one, { lower: key("7"), upper: key("7") })).toBe("`id`>7 AND `id`<=7");
  });

  it("expands row values, and takes equal leading cells out", () => {
    expect(keyPredicate(three, { lower: key("1", "2", "x"), upper: null })).toBe("((`a`>1) OR (`a`=1 AND `b`>2) OR (`a`=1 AND `b`=2 AND `c`>_utf8mb4'x'))");
    expect(keyPredicate(three, { lower: null, upper: key("1", "2", "x") })).toBe("((`a`<1) OR (`a`=1 AND `b`<2) OR (`a`=1 AND `b`=2 AND `c`<=_utf8mb4'x'))");
    expect(keyPredicate(three, { lower: key("1", "2", "x"), upper: key("1", "3", "a") })).toBe("`a`=1 AND ((`b`>2) OR (`b`=2 AND `c`>_utf8mb4'x')) AND ((`b`<3) OR (`b`=3 AND `c`<=_utf8mb4'a'))");
    expect(keyPredicate(three, { lower: key("1", "2", "x"), upper: key("1", "2", "y") })).toBe("`a`=1 AND `b`=2 AND `c`>_utf8mb4'x' AND `c`<=_utf8mb4'y'");
  });

  it("lists the values of an ENUM, for which the server knows no ranges", () => {
    const e = table([column("e", "enum('a','b','c')"), column("n", "int")], ["e", "n"]);
    expect(keyPredicate(e, { lower: key("1", "5"), upper: null })).toBe("((`e` IN (2,3)) OR (`e` IN (1,1) AND `n`>5))");
    expect(keyPredicate(e, { lower: null, upper: key("0", "5") })).toBe("`e` IN (0,0) AND `n`<=5");
    const alone = table([column("e", "enum('a','b','c')")], ["e"]);
    expect(keyPredicate(alone, { lower: key("3"), upper: null })).toBe("FALSE");
    expect(keyPredicate(alone, { lower: null, upper: key("1") })).toBe("`e` IN (0,1)");
  });

  it("turns round for descending parts", () => {
    const down = table([column("a", "int"), column("b", "int")], ["a", "b"]);
    (down.indexes[0] as { parts: unknown[] }).parts = [{ column: "a", prefix: null }, { column: "b", prefix: null, descending: true }];
    expect(keyPredicate(down, { lower: key("1", "2"), upper: null })).toBe("((`a`>1) OR (`a`=1 AND `b`<2))");
    expect(chunkSelect(down, { lower: null, upper: null })).toBe("SELECT `a`,`b` FROM `shop`.`orders` FORCE INDEX (`PRIMARY`) ORDER BY `a`,`b` DESC");
    expect(maxKeyQuery(down)).toBe("SELECT `a`,`b` FROM `shop`.`orders` FORCE INDEX (`PRIMARY`) ORDER BY `a` DESC,`b` LIMIT 1");
  });

  it("refuses a key of another width", () => expect(() => keyPredicate(one, { lower: key("1", "2"), upper: null })).toThrow(RangeError));
});

describe("statements", () => {
  it("keep a filter on lines of its own, as UTF-8 bytes", () => {
    expect(chunkSelect(one, { lower: key("1"), upper: null, where: "v = 'é' OR 1 -- all" })).toBe(
      "SELECT `id`,`v` FROM `shop`.`orders` FORCE INDEX (`PRIMARY`) WHERE `id`>1 AND (\nv = '\xc3\xa9' OR 1 -- all\n) ORDER BY `id`",
    );
  });

  it("step by rows", () => {
    expect(boundaryQuery(one, { after: null, rows: 10 })).toBe("SELECT `id` FROM `shop`.`orders` FORCE INDEX (`PRIMARY`) ORDER BY `id` LIMIT 1 OFFSET 9");
    expect(boundaryQuery(one, { after: key("1"), upTo: key("9"), rows: 1 })).toContain("WHERE `id`>1 AND `id`<=9 ORDER BY `id` LIMIT 1 OFFSET 0");
  });

  it("pull keys out of rows, together or apart", () => {
    const row = textRow(cells(null, "name", "1", "2"));
    expect(keyOf(three)(Buffer.concat([Buffer.from("zz"), row, Buffer.from("zz")]), 2)).toEqual(key("1", "2", "name"));
    expect(keyOf(one)(textRow(cells("5", "6")))).toEqual(key("5"));
  });

  it("delete by lists within the limits", () => {
    const target = { schema: "t", table: "o" };
    expect([...deleteStatements(one, target, [key("1"), key("2").toString("latin1")], { maxBytes: 1000 })]).toEqual(["DELETE FROM `t`.`o` WHERE `id` IN (1,2)"]);
    expect([...deleteStatements(three, target, [key("1", "2", "\xc3\xa9"), key("3", "4", "'")], { maxBytes: 1000 })]).toEqual(["DELETE FROM `t`.`o` WHERE (`a`,`b`,`c`) IN ((1,2,_utf8mb4'\xc3\xa9'),(3,4,_utf8mb4'\\''))"]);
    const enums = table([column("a", "int"), column("e", "enum('x')")], ["a", "e"]);
    expect([...deleteStatements(enums, target, [key("1", "0"), key("2", "1")], { maxBytes: 1000 })]).toEqual(["DELETE FROM `t`.`o` WHERE ((`a`=1 AND `e` IN (0,0)) OR (`a`=2 AND `e` IN (1,1)))"]);
    expect([...deleteStatements(one, target, [], { maxBytes: 1000 })]).toEqual([]);
    expect([...deleteStatements(one, target, [key("1")], { maxBytes: 1000, unless: "v = 'é' OR 1" })]).toEqual(["DELETE FROM `t`.`o` WHERE `id` IN (1) AND (\nv = '\xc3\xa9' OR 1\n) IS NOT TRUE"]);
    const many = Array.from({ length: 10_000 }, (_, i) => key(String(i)));
    for (const maxBytes of [100, 1000, 1 << 20]) {
      const statements = [...deleteStatements(one, target, many, { maxBytes })];
      for (const statement of statements) expect(statement.length).toBeLessThanOrEqual(maxBytes);
      expect(statements.flatMap((s) => /\((.*)\)/.exec(s)?.[1]?.split(",")).length).toBe(10_000);
    }
    // A filter's text counts too.
    for (const statement of deleteStatements(one, target, many, { maxBytes: 500, unless: `v <> '${"x".repeat(300)}'` })) expect(statement.length).toBeLessThanOrEqual(500);
    expect([...deleteStatements(three, target, many.map((_, i) => key(String(i), "0", "x")), { maxBytes: 1 << 20 })].length).toBe(10);
  });

  it("compare digests of different widths by what they share", () => {
    expect(sameHash({ rows: 1, digest: "AB".repeat(32) }, { rows: 1, digest: "AB".repeat(16) })).toBe(true);
    expect(sameHash({ rows: 1, digest: "AB".repeat(32) }, { rows: 2, digest: "AB".repeat(32) })).toBe(false);
    expect(sameHash({ rows: 1, digest: "AB".repeat(32) }, { rows: 1, digest: "AC".repeat(16) })).toBe(false);
    expect(sameHash({ rows: 1, digest: "" }, { rows: 1, digest: "" })).toBe(false);
    expect(sameHash({ rows: 0, digest: "" }, { rows: 0, digest: "" })).toBe(true);
  });
});

it("lets nothing into a statement that is not of the column's type", () => {
  const wrong = { lower: key("1 OR 1=1"), upper: null };
  for (const type of ["int", "decimal(9,2)", "double", "enum('a','b')"]) expect(() => keyPredicate(table([column("k", type)], ["k"]), wrong)).toThrow(/the table was replaced/);
  expect(keyPredicate(table([column("k", "datetime")], ["k"]), { lower: key("' OR '1"), upper: null })).toBe("`k`>'\\' OR \\'1'");
});
