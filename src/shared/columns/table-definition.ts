/** What Drover knows about a table: shapes only; reading it from a server is `read-table.ts`. Stored as JSON in the state schema. */

export interface ColumnDefinition {
  name: string;
  /** `information_schema.COLUMNS.DATA_TYPE`, lower case: `int`, `varchar`, `json`, `geometry`, … */
  dataType: string;
  /** `COLUMN_TYPE`: `int unsigned`, `enum('a','b')`, … */
  columnType: string;
  charset: string | null;
  collation: string | null;
  nullable: boolean;
  unsigned: boolean;
  /** A stored or virtual generated column: never written, never compared as data. */
  generated: "stored" | "virtual" | null;
  invisible: boolean;
  autoIncrement: boolean;
}

export interface IndexDefinition {
  name: string;
  unique: boolean;
  /** Key parts in order: a column's name, or null for an expression; `descending` when the part is declared DESC. */
  parts: { column: string | null; prefix: number | null; descending?: boolean }[];
  /** FULLTEXT, SPATIAL and HASH indexes are `other`. */
  kind: "btree" | "other";
  /** Hidden from the optimizer (MariaDB: ignored). */
  invisible?: boolean;
}

/** A table's place; the target's may differ from the source's. */
export interface TableName {
  schema: string;
  table: string;
}

export interface TableDefinition {
  /** Of the server that it was read from; default: mysql. */
  family?: "mysql" | "mariadb";
  schema: string;
  table: string;
  engine: string;
  /** All columns in ordinal order, generated and invisible ones included. */
  columns: ColumnDefinition[];
  /** Every index, the primary key (`PRIMARY`) included. */
  indexes: IndexDefinition[];
  /** The row key: the names of the primary key's columns, else of a NOT NULL unique key (see `choose-key.ts`); null when there is none. */
  key: { index: string; columns: string[] } | null;
  /** `SHOW CREATE TABLE`, as the server gives it (UTF-8). */
  createStatement: string;
  rowsEstimated: number;
  /** Average bytes per row, blobs included, as the server estimates it. */
  rowBytesEstimated: number;
}

/** The columns whose values travel: all but generated ones, in ordinal order. Cells of text rows stand in this order. */
export function copiedColumns(definition: Pick<TableDefinition, "columns">): ColumnDefinition[] {
  return definition.columns.filter((column) => column.generated === null);
}

/** The same for every way in which a server may show a name: in the case that it was given, or all in lower case. Two tables may share it. */
export function foldedName({ schema, table }: TableName): string {
  return JSON.stringify([schema, table]).toLowerCase();
}
