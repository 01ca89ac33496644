/**
 * What the binlog stream hands on. Calls come synchronously in binlog order: `begin`, then any number of `table`,
 * rows (through the sink) and `statement`, then `commit`. Only whole transactions are followed by `commit`.
 */

/** A TABLE_MAP event with FULL row metadata, decoded. */
export interface BinlogTable {
  schema: string;
  table: string;
  /**
   * Empty when the event does not tell the columns (binlog_row_metadata=MINIMAL, an unknown type). Return null as always for a table that is
   * not wanted; any sink then ends the stream with UNDECODABLE and the cure.
   */
  columns: BinlogColumn[];
}

export interface BinlogColumn {
  name: string;
  /** The binlog's column type code (MYSQL_TYPE_…), the real type behind STRING for enum and set. */
  type: number;
  /** See `ColumnType` in type-codes.ts. */
  metadata: number;
  unsigned: boolean;
  /** Collation id of character columns and of enum and set, else null. */
  collation: number | null;
  nullable: boolean;
}

/** Types of MariaDB that the binlog shows as BINARY, while their cell is a text. */
export type CellFormat = "uuid" | "inet4" | "inet6";

/** Receives the rows of one table. */
export interface RowSink {
  /** Ordinal positions (0-based, in `BinlogTable.columns`) of the cells of a text row, in the row's order. */
  readonly columns: readonly number[];
  /** Which entries of `columns` make up the row key, in key order. */
  readonly keyCells: readonly number[];
  /** By entry of `columns`: what the binlog does not tell of its column; null (or none at all) for every other type. */
  readonly formats?: readonly (CellFormat | null)[];
  /**
   * One row change. Insert: `beforeKey` null. Delete: `afterKey` and `after` null.
   * Keys are text rows of the key cells as byte strings (latin1), fit to be Map keys.
   * `after` is a text row that is valid during the call only.
   */
  row(beforeKey: string | null, afterKey: string | null, after: Buffer | null): void;
}

export interface TransactionStart {
  /** `uuid:1` (also tagged: `uuid:tag:1`), or MariaDB's `domain-server-sequence`. */
  gtid: string;
  /** When it was committed on the server where it was first written, in milliseconds since the epoch (0 when unknown). */
  committedAt: number;
}

/** A Query event that is not BEGIN/COMMIT: DDL, or a statement-format change. */
export interface BinlogStatement {
  sql: Buffer;
  /** The session's default schema when it ran; empty when it had none. */
  schema: string;
  /** Collation id of character_set_client, the encoding of `sql`. */
  clientCollation: number;
  /** Ids of collation_connection and collation_server. */
  connectionCollation: number;
  serverCollation: number;
  sqlMode: bigint;
  /** `@@timestamp` of the session: seconds and microseconds, for CURRENT_TIMESTAMP. */
  timestamp: string;
  /** `@@time_zone`, where the statement depends on it. */
  timeZone: string | null;
  /** Collation id of default_collation_for_utf8mb4; null where the server has no such setting. */
  utf8mb4Collation: number | null;
  /** explicit_defaults_for_timestamp; null where the server does not say. */
  explicitDefaults: boolean | null;
  /** Its transaction may hold rows as well: CREATE TABLE … SELECT, a statement-format change. */
  withRows: boolean;
}

export interface BinlogHandler {
  begin(transaction: TransactionStart): void;
  /** Whether and how the table's rows are wanted; null skips them undecoded. Asked once per TABLE_MAP of a table id per stream unless the map changes. */
  table(table: BinlogTable): RowSink | null;
  statement(statement: BinlogStatement): void;
  commit(): void;
}
