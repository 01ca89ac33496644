import { expect, it } from "vitest";
import { ReplaceWriter, type ReplaceStatement } from "../../../src/shared/columns/replace-writer.js";
import { textRow } from "../../../src/shared/columns/text-row.js";
import { cells, column, table } from "./definitions.js";

const mixed = table(
  [column("id", "int"), column("f", "double"), column("c", "varchar(20)", { charset: "gbk", nullable: true }), column("d", "datetime"), column("e", "enum('a')"), column("j", "json"), column("u", "uuid")],
  ["id"],
);

function statements(rows: (string | null)[][], maxBytes: number, maxRows: number): ReplaceStatement[] {
  const writer = new ReplaceWriter(mixed, { schema: "s", table: "t" }, { maxBytes, maxRows });
  const made = rows.map((row) => writer.add(textRow(cells(...row))));
  return [...made, writer.finish()].filter((s) => s !== null);
}

const row = (id: string) => [id, "1.5e300", "\x81\\'", "2024-01-01 00:00:00", "0", '{"a": 1.50}', "x-y"];

it("writes each type in its own way", () => {
  expect(statements([["-1", "-0", null, "0000-00-00 00:00:00", "1", '"\'"', "x"]], 1000, 10)[0]?.statement).toBe(
    "REPLACE INTO `s`.`t` (`id`,`f`,`c`,`d`,`e`,`j`,`u`) VALUES (-1,'-0',NULL,'0000-00-00 00:00:00',1,_utf8mb4'\"\\'\"',_ascii'x')",
  );
  expect(statements([row("1")], 1000, 10)[0]?.statement).toContain("(1,'1.5e300',_binary'\x81\\\\\\'','2024-01-01 00:00:00',0,JSON_SET(_utf8mb4'{\"a\": 1.50}',_utf8mb4'$.\"a\"',1.50),_ascii'x-y')");
});

it("splits by rows and by bytes, loses no row and counts warnings where they belong", () => {
  const rows = Array.from({ length: 10 }, (_, i) => row(String(i)));
  expect(statements(rows, 1 << 20, 4).map((s) => [s.rows, s.expectedWarnings])).toEqual([[4, 4], [4, 4], [2, 2]]);
  for (const maxBytes of [1, 300, 500, 1000]) {
    const made = statements(rows, maxBytes, 1000);
    expect(made.reduce((sum, s) => sum + s.rows, 0)).toBe(10);
    expect(made.reduce((sum, s) => sum + s.expectedWarnings, 0)).toBe(10);
    for (const s of made) if (s.rows > 1) expect(s.statement.length).toBeLessThanOrEqual(maxBytes);
    expect(made.flatMap((s) => [...s.statement.matchAll(/\((\d),'/g)].map((m) => m[1]))).toEqual(rows.map((r) => r[0]));
  }
});

it("lets no text into a statement where a number belongs", () => expect(() => statements([row("0),(1")], 1000, 10)).toThrow(/the table was replaced/));
