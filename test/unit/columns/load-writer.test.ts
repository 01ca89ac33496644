import { describe, expect, it } from "vitest";
import { LoadWriter, type LoadFile } from "../../../src/shared/columns/load-writer.js";
import { textRow } from "../../../src/shared/columns/text-row.js";
import { cells, column, table } from "./definitions.js";

const target = { schema: "t", table: "copy" };
const two = table([column("id", "int"), column("b", "longblob", { nullable: true })], ["id"]);

/** What LOAD DATA makes of the file. */
function decoded(file: LoadFile): (string | null)[][] {
  const rows: (string | null)[][] = [];
  let row: (string | null)[] = [];
  let cell: string | null = "";
  const text = Buffer.concat(file.chunks).toString("latin1");
  let from = 0;
  const special = /[\x1d-\x1f]/g;
  for (let match = special.exec(text); match !== null; match = special.exec(text)) {
    const at = match.index;
    if (at > from) cell = (cell ?? "") + text.slice(from, at);
    from = at + 1;
    if (match[0] === "\x1d") {
      if (text[from] === "N" && cell === "") cell = null;
      else cell += text[from] as string;
      from += 1;
      special.lastIndex = from;
      continue;
    }
    row.push(cell);
    cell = "";
    if (match[0] === "\x1e") {
      rows.push(row);
      row = [];
    }
  }
  expect(from).toBe(text.length);
  expect(row).toEqual([]);
  return rows;
}

describe("LoadWriter", () => {
  it("writes what LOAD DATA reads back, for cells of every length class", () => {
    const writer = new LoadWriter(two, target);
    const rows: (string | null)[][] = [["1", null], ["2", ""], ["3", "N"], ["4", "\x1d\x1e\x1f\\N\t\n\0"], ["-5", "\xff\xfb\xfa"]];
    for (const length of [250, 251, 300, 301, 65_535, 65_536, 1 << 20, (1 << 24) + 3]) rows.push([String(length), `\x1d${"ab\x1fé".repeat(30)}${"é".repeat(length - 122)}\x1e`]);
    for (const row of rows) writer.add(textRow(cells(...row)));
    const file = writer.finish() as LoadFile;
    expect(decoded(file)).toEqual(rows);
    expect(file.rows).toBe(rows.length);
    expect(file.bytes).toBe(file.chunks.reduce((sum, chunk) => sum + chunk.length, 0));
    expect(Math.max(...file.chunks.map((chunk) => chunk.length))).toBeLessThanOrEqual(1 << 18);
  });

  it("stays right over random rows and after resets, within few buffers", () => {
    let seed = 7;
    const random = (n: number) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
    const writer = new LoadWriter(two, target);
    for (let round = 0; round < 20; round++) {
      const rows = Array.from({ length: random(40) + 1 }, (_, i) => {
        const size = [0, 1, 30, 260, 70_000][random(5)] as number;
        return [String(i), random(6) === 0 ? null : Buffer.from(Array.from({ length: size }, () => (random(3) ? random(256) : 0x1c + random(5)))).toString("latin1")];
      });
      for (const row of rows) {
        // Somewhere in a larger packet, as the driver hands it on.
        const bytes = textRow(cells(...row));
        writer.add(Buffer.concat([Buffer.from("xx"), bytes, Buffer.from("yy")]), 2, 2 + bytes.length);
      }
      expect(decoded(writer.finish() as LoadFile)).toEqual(rows);
      writer.reset();
      expect([writer.rows, writer.bytes, writer.finish()]).toEqual([0, 0, null]);
    }
  });

  it("takes a row larger than its buffers whose every byte needs an escape", () => {
    const writer = new LoadWriter(two, target);
    const row = ["1", "\x1e".repeat(1.2 * 2 ** 20)];
    writer.add(textRow(cells("0", "small")));
    writer.add(textRow(cells(...row)));
    writer.add(textRow(cells("2", "small")));
    expect(decoded(writer.finish() as LoadFile)).toEqual([["0", "small"], row, ["2", "small"]]);
  });

  it("names columns, and sets those that bytes alone would not fill exactly", () => {
    const mixed = table([column("id", "int"), column("e", "enum('a','b')"), column("g", "int", { generated: "stored" }), column("j", "json"), column("w`w", "text")], ["id"]);
    expect(new LoadWriter(mixed, { schema: "a`b", table: "c" }).statement).toBe(
      "LOAD DATA LOCAL INFILE 'drover' REPLACE INTO TABLE `a``b`.`c` CHARACTER SET binary FIELDS TERMINATED BY X'1F' ESCAPED BY X'1D' LINES TERMINATED BY X'1E' " +
        "(`id`,@drover_1,@drover_2,`w``w`) SET `e`=CAST(@drover_1 AS UNSIGNED),`j`=CONVERT(@drover_2 USING utf8mb4)",
    );
  });

  it("expects a warning for each ENUM index 0, and for no other zero", () => {
    const writer = new LoadWriter(table([column("id", "int"), column("e", "enum('a','b')"), column("s", "set('a','b')")], ["id"]), target);
    for (const row of [["0", "0", "0"], ["1", "1", "0"], ["0", "0", "1"], ["0", "10", "0"]]) writer.add(textRow(cells(...row)));
    expect(writer.finish()?.expectedWarnings).toBe(2);
  });

  it("puts rows aside that LOAD DATA would round, and is loud about them otherwise", () => {
    const documents = table([column("id", "int"), column("j", "json"), column("e", "enum('a')")], ["id"]);
    const bad = textRow(cells("2", '{"n": 12.50}', "0"));
    const aside: string[] = [];
    const writer = new LoadWriter(documents, target, { aside: (row, start, end) => void aside.push(row.toString("latin1", start, end)) });
    writer.add(textRow(cells("1", '{"n": 12.5, "m": "1.10"}', "1")));
    writer.add(bad);
    expect(aside).toEqual([bad.toString("latin1")]);
    expect(writer.finish()).toMatchObject({ rows: 1, expectedWarnings: 0 });
    expect(() => new LoadWriter(documents, target).add(bad)).toThrow(expect.objectContaining({ code: "UNDECODABLE" }) as Error);
  });
});
