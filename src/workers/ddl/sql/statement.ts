/** What a statement of the binlog does to tables, and where in its bytes their names stand. */

/** A table's name in a statement. */
export interface TableReference {
  /** As written, or the session's default schema; empty when there is neither. */
  schema: string;
  table: string;
  /** Offsets of the whole name, its schema included. */
  start: number;
  end: number;
  /** Whether the statement names the schema. */
  qualified: boolean;
}

export type Statement =
  /** Does nothing to tables, or to their rows, that the binlog's row events do not tell: views, routines, users, ANALYZE, … */
  | { kind: "none" }
  /** ALTER TABLE, CREATE INDEX, DROP INDEX. */
  | {
      kind: "alter";
      table: TableReference;
      renameTo: TableReference | null;
      /** Tables that its foreign keys refer to. */
      references: TableReference[];
      /** EXCHANGE PARTITION … WITH TABLE. */
      exchange: TableReference | null;
      /** Rows come to be in a way that executing it again elsewhere need not repeat: IMPORT TABLESPACE, a new AUTO_INCREMENT column. */
      refills: boolean;
      /** Executed twice it may do something else than once, although the shape of the table is the same before and after. */
      reversible: boolean;
      /** A clause that Drover cannot carry, by its keywords. */
      unsupported: string | null;
    }
  | {
      kind: "create";
      table: TableReference;
      like: TableReference | null;
      references: TableReference[];
      /** CREATE TABLE … SELECT. */
      filled: boolean;
      ifNotExists: boolean;
      /** MariaDB's CREATE OR REPLACE. */
      orReplace: boolean;
      unsupported: string | null;
    }
  | { kind: "drop"; tables: TableReference[] }
  | { kind: "truncate"; table: TableReference }
  /** In order: a later pair sees the names that an earlier one gave. */
  | { kind: "rename"; pairs: { from: TableReference; to: TableReference }[] }
  | { kind: "drop-schema"; schema: string }
  /** ALTER DATABASE: the options that new tables inherit, as the statement writes them. */
  | { kind: "alter-schema"; schema: string; charset: string | null; collation: string | null }
  /** A change of rows in statement format; `tables` may be changed by it. */
  | { kind: "rows"; tables: TableReference[] };
