/** Where rows may go: never where they come from, never into schemas that are not the application's. */
import { expect, it } from "vitest";
import { parseRecordedSpec, type MigrationSpecInput } from "../../../src/shared/contracts/spec.js";
import { sameServer } from "../../../src/shared/mysql/server-identity.js";
import { placeProblems, type TargetPlace } from "../../../src/shared/selection/target-place.js";

const name = (text: string) => ({ schema: text.split("/")[0] as string, table: text.split("/")[1] as string });
function codes(tables: MigrationSpecInput["tables"], moves: [from: string, to: string][], options: Partial<TargetPlace> = {}): string[] {
  const spec = parseRecordedSpec({ id: "m", source: "A", target: "B", tables });
  return placeProblems({ spec, stateSchema: "drover", tables: moves.map(([from, to]) => ({ source: name(from), target: name(to) })), sameServer: true, ignoreCase: false, ...options }).map(({ code }) => code);
}
const all = [{ schema: "s" }];

it("on one server no target is a table that is read from", () => {
  expect(codes(all, [["s/t", "s/t"]])).toEqual(["target-is-source"]);
  expect(codes(all, [["s/t", "s/t"]], { sameServer: false })).toEqual([]);
  expect(codes([{ schema: "s", targetSchema: "x" }], [["s/t", "x/t"]])).toEqual([]);
  // Round in a circle, and one that has only its name so far.
  expect(codes([{ schema: "s", table: "t", targetTable: "u" }, { schema: "s", table: "u", targetTable: "t" }], [["s/t", "s/u"], ["s/u", "s/t"]])).toEqual(["target-is-source", "target-is-source"]);
  expect(codes([{ schema: "s", table: "t", targetTable: "new" }, { schema: "s", exclude: ["t"], targetSchema: "x" }], [["s/t", "s/new"]])).toEqual(["target-is-source"]);
  // Followed under a name that the spec does not select.
  expect(codes([{ schema: "s", table: "t", targetTable: "u" }], [["s/t", "s/u"]], { followed: [name("s/u")] })).toEqual(["target-is-source"]);
});

it("names are told apart as the server does", () => {
  const tables = [{ schema: "s", table: "t", targetTable: "T" }];
  expect(codes(tables, [["s/t", "s/T"]])).toEqual([]);
  expect(codes(tables, [["s/t", "s/T"]], { ignoreCase: true })).toEqual(["target-is-source"]);
  // A dot in a name is not the one between schema and table.
  expect(codes([{ schema: "a", table: "b.c", targetSchema: "a.b", targetTable: "c" }], [["a/b.c", "a.b/c"]])).toEqual([]);
});

it("the state schema and the server's own are no place for rows", () => {
  expect(codes([{ schema: "s", targetSchema: "Drover" }], [["s/t", "Drover/t"]], { sameServer: false })).toEqual(["target-is-state"]);
  expect(codes([{ schema: "s", targetSchema: "MySQL" }], [["s/t", "MySQL/user"]], { sameServer: false })).toEqual(["system-schema"]);
  expect(codes([{ schema: "drover", targetSchema: "x" }], [["drover/tables", "x/tables"]])).toEqual(["source-is-state"]);
});

it("members of one cluster share their rows", () => {
  expect(sameServer(["a", "cluster 1"], ["b", "cluster 1"])).toBe(true);
  expect(sameServer(["a"], ["b", "cluster 1"])).toBe(false);
});
