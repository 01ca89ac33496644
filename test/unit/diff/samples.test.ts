import { describe, expect, it } from "vitest";
import type { ColumnDefinition, TableDefinition } from "../../../src/shared/columns/table-definition.js";
import { textRow } from "../../../src/shared/columns/text-row.js";
import { sampleKey } from "../../../src/shared/state/diff-samples.js";

const column = (name: string, dataType: string, charset: string | null = null): ColumnDefinition => ({
  name, dataType, columnType: dataType, charset, collation: null, nullable: false, unsigned: false, generated: null, invisible: false, autoIncrement: false,
});

function keyed(...columns: ColumnDefinition[]): TableDefinition {
  const parts = columns.map((c) => ({ column: c.name, prefix: null }));
  return {
    schema: "s", table: "t", engine: "InnoDB", columns, indexes: [{ name: "PRIMARY", unique: true, parts, kind: "btree" }],
    key: { index: "PRIMARY", columns: columns.map((c) => c.name) }, createStatement: "", rowsEstimated: 0, rowBytesEstimated: 0,
  };
}

describe("sampleKey", () => {
  it("shows text in its own character set, bytes as hex, numbers as they are", () => {
    const table = keyed(column("n", "bigint"), column("u", "varchar", "utf8mb4"), column("l", "varchar", "latin1"), column("w", "varchar", "utf16"), column("b", "varbinary"), column("x", "varchar", "armscii8"));
    const key = textRow([Buffer.from("18446744073709551615"), Buffer.from("ä😀"), Buffer.from([0xe4, 0x80]), Buffer.from([0, 0x61]), Buffer.from([0, 255]), Buffer.from([0xb2])]);
    expect(sampleKey(table, key)).toEqual({ n: "18446744073709551615", u: "ä😀", l: "ä€", w: "a", b: "0x00FF", x: "0xB2" });
  });
});
