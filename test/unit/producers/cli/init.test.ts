/** The YAML that `init` writes: whatever a table is called, what is not a comment is a valid spec. */
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { SourceTable } from "../../../../src/producers/cli/init/inspect-source.js";
import { idOf, selections, specText } from "../../../../src/producers/cli/init/spec-text.js";
import { parseMigrationSpec } from "../../../../src/shared/contracts/spec.js";

const table = (name: string, changes: Partial<SourceTable> = {}): SourceTable => ({
  schema: "shop", table: name, rows: 1234, bytes: 5 << 20, key: { index: "PRIMARY", columns: ["id"] }, obstacles: [], ...changes,
});
const text = (tables: SourceTable[], passedOver: string[] = []) => specText({ id: "shop", source: "SRC", target: "DST", picture: { server: "MySQL 9.7.4", tables, passedOver } });

test("tables with size and key; what needs attention is a comment with its reason and cure", () => {
  const obstacles = [{ message: "SRC: shop.log has neither a primary key nor a unique key", cure: "ALTER TABLE …" }];
  const yaml = text([table("orders"), table("log", { key: null, obstacles })], ["shop.totals (VIEW)"]);
  expect(yaml).toMatch(/^ {6}- orders +# 1,234 rows, 5\.0 MiB, key PRIMARY \(id\)$/m);
  expect(yaml).toMatch(/^ {6}# - log +# 1,234 rows, 5\.0 MiB, no key$/m);
  expect(yaml).toContain("#   SRC: shop.log has neither a primary key nor a unique key");
  expect(yaml).toContain("#   → ALTER TABLE …");
  expect(yaml).toContain("#   shop.totals (VIEW)");
  expect(parseMigrationSpec(parse(yaml)).tables).toEqual([{ kind: "pattern", schema: "shop", include: ["orders"], exclude: [], targetSchema: "shop" }]);
});

test("odd names stay what they are", () => {
  const names = ["größe", "with space", "null", "quo\"te", "a#b", "a: b", "star*", "what?", "new\nline", "- x", "`tick`", "yes"];
  const yaml = text(names.map((name) => table(name, { schema: "odd: schema" })));
  const spec = parseMigrationSpec(parse(yaml));
  const taken = spec.tables.flatMap((selection) => (selection.kind === "pattern" ? selection.include : [selection.table]));
  expect(taken.sort()).toEqual([...names].sort());
  expect(spec.tables.every((selection) => selection.schema === "odd: schema")).toBe(true);
  expect(parse(yaml)).toMatchObject({ tables: expect.arrayContaining([{ schema: "odd: schema", table: "star*" }]) });
  expect(selections(names.map((name) => table(name)))).toHaveLength(3);
});

test("a line break in a name or a message does not end its comment", () => {
  const yaml = text([table("a\nid: evil", { obstacles: [{ message: "bad\ntables: []", cure: "x\ny: 1" }] }), table("fine")], ["v\nmode: copy"]);
  expect(parse(yaml)).toEqual({ id: "shop", source: "SRC", target: "DST", mode: "copy+follow", tables: [{ schema: "shop", include: ["fine"] }] });
});

test("a source of nothing that can be moved says so", () => {
  const yaml = text([table("log", { obstacles: [{ message: "no key", cure: "" }] })]);
  expect(yaml).toContain("None of the tables can be moved as it is");
  expect(parse(yaml)).toMatchObject({ tables: [] });
});

test("an id from the schema's name", () => {
  expect(idOf(["My Shop"])).toBe("my-shop");
  expect(idOf(["größe"])).toBe("gr-e");
  expect(idOf(["日本"])).toBe("migration");
  expect(idOf(["a", "b"])).toBe("migration");
});
