import { expect, it } from "vitest";
import { lostMembers } from "../../../src/shared/columns/lost-members.js";
import type { TableDefinition } from "../../../src/shared/columns/table-definition.js";

const table = (columnType: string, charset: string | null, family: "mysql" | "mariadb" = "mysql") =>
  ({ schema: "s", table: "t", family, columns: [{ name: "c", dataType: columnType.slice(0, columnType.indexOf("(")), columnType, charset }] }) as unknown as TableDefinition;

it("a member with a question mark is in doubt only where it may have been another character", () => {
  expect(lostMembers(table("enum('?','b')", "utf8mb4"))?.message).toMatch(/^s\.t: the column c has a member/);
  expect(lostMembers(table("set('a','x?')", "utf32"))).not.toBeNull();
  expect(lostMembers(table("enum('?')", null, "mariadb"))).not.toBeNull();
  // MySQL shows these in hexadecimal.
  expect(lostMembers(table("enum('?')", null))).toBeNull();
  expect(lostMembers(table("enum('?')", "latin1"))).toBeNull();
  expect(lostMembers(table("enum('b')", "utf8mb4"))).toBeNull();
  expect(lostMembers(table("varchar(5)", "utf8mb4"))).toBeNull();
});
