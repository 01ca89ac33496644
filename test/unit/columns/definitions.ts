/** Table definitions for tests without a server. */
import type { ColumnDefinition, IndexDefinition, TableDefinition } from "../../../src/shared/columns/table-definition.js";

export function column(name: string, columnType: string, more: Partial<ColumnDefinition> = {}): ColumnDefinition {
  const dataType = (/^\w+/.exec(columnType) as RegExpExecArray)[0].toLowerCase();
  const text = /^(char|varchar|tinytext|text|mediumtext|longtext|enum|set)$/.test(dataType);
  return {
    name, dataType, columnType, charset: text ? "utf8mb4" : null, collation: text ? "utf8mb4_0900_ai_ci" : null,
    nullable: false, unsigned: /unsigned/.test(columnType), generated: null, invisible: false, autoIncrement: false, ...more,
  };
}

export function index(name: string, columns: string[], more: Partial<IndexDefinition> = {}): IndexDefinition {
  return { name, unique: true, kind: "btree", parts: columns.map((c) => ({ column: c, prefix: null })), ...more };
}

export function table(columns: ColumnDefinition[], key: string[], more: Partial<TableDefinition> = {}): TableDefinition {
  return {
    schema: "shop", table: "orders", engine: "InnoDB", columns, indexes: [index("PRIMARY", key)], key: { index: "PRIMARY", columns: key },
    createStatement: "", rowsEstimated: 0, rowBytesEstimated: 0, ...more,
  };
}

/** A key or row of text cells (latin1). */
export const cells = (...values: (string | null)[]): (Buffer | null)[] => values.map((v) => (v === null ? null : Buffer.from(v, "latin1")));
