/** What a migration spec may say of two connections. */
import { expect, it } from "vitest";
import { parseMigrationSpec, parseRecordedSpec, type MigrationSpecInput } from "../../../src/shared/contracts/spec.js";

const HOME = { schema: "s", table: "t" };
const AWAY = { schema: "s", table: "t", targetTable: "t2" };
const spec = (source: string, target: string, ...tables: MigrationSpecInput["tables"]): MigrationSpecInput => ({ id: "m", source, target, tables });

it.each([
  ["the same name", spec("SRC", "SRC", HOME)],
  ["names that differ in case: settings know them in upper case", spec("SRC", "src", HOME)],
  ["one table at home among others", spec("SRC", "SRC", AWAY, { schema: "s", table: "u" })],
  ["a pattern at home", spec("src", "SRC", AWAY, { schema: "p" })],
])("one connection is not source and target of one table: %s", (_what, input) => {
  expect(() => parseMigrationSpec(input)).toThrow(/"target": source and target are the same connection/);
  // What is recorded must be shown, stopped and removed still.
  expect(parseRecordedSpec(input).tables).toHaveLength(input.tables.length);
});

it("tables may move within one server", () => {
  expect(parseMigrationSpec(spec("SRC", "src", AWAY, { schema: "p", targetSchema: "q" })).tables).toHaveLength(2);
});
