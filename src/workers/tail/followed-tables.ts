/** Which tables of the binlog are ours, and how their columns stand in it. */
import { whyNoKey } from "../../shared/columns/choose-key.js";
import { copiedColumns, type TableName } from "../../shared/columns/table-definition.js";
import { DroverError } from "../../shared/errors.js";
import { Position } from "../../shared/mysql/position.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { BinlogTable, CellFormat, RowSink } from "../binlog/events.js";
import { notFollowed } from "./missed-tables.js";
import { shapeDifference, type SourceNaming } from "./shape-difference.js";

/** Types of MariaDB whose cells are texts, though the binlog shows bytes. */
const FORMATS: Record<string, CellFormat> = { uuid: "uuid", inet4: "inet4", inet6: "inet6" };

export type RowReceiver = (table: MigrationTable, beforeKey: string | null, afterKey: string | null, after: Buffer | null) => void;

export class FollowedTables {
  /** All of them, by number. */
  readonly list: readonly MigrationTable[];
  private readonly naming: SourceNaming;
  private readonly byName = new Map<string, MigrationTable>();
  /** Tables whose start position the stream has not passed yet. */
  private readonly early = new Map<number, Position>();
  /** Of these, the ones that the transaction at hand is too old for. */
  private skipped = new Set<number>();
  private readonly receive: RowReceiver;
  private readonly mayLackKey: (table: MigrationTable) => boolean;
  private readonly isMissed: (name: TableName) => boolean;

  /**
   * @param mayLackKey whether a table without a key is followed by whole rows
   * @param isMissed whether a table that is none of these should be: its rows must not pass unseen
   */
  constructor(tables: readonly MigrationTable[], from: Position, naming: SourceNaming, receive: RowReceiver, mayLackKey: (table: MigrationTable) => boolean = () => false, isMissed: (name: TableName) => boolean = () => false) {
    this.receive = receive;
    this.mayLackKey = mayLackKey;
    this.isMissed = isMissed;
    this.list = tables;
    this.naming = naming;
    for (const table of tables) {
      this.byName.set(this.keyOf(table.source.schema, table.source.table), table);
      const start = Position.parse(table.startPosition);
      if (!from.covers(start)) this.early.set(table.number, start);
    }
  }

  get ignoreCase(): boolean {
    return this.naming.ignoreCase;
  }

  get(schema: string, table: string): MigrationTable | undefined {
    return this.byName.get(this.keyOf(schema, table));
  }

  /** Events of a table at or before its start position are older than its definition; its chunk reads have seen them. */
  beginTransaction(gtid: string): void {
    if (this.early.size === 0) return;
    this.skipped = new Set();
    for (const [number, start] of this.early) if (start.contains(gtid)) this.skipped.add(number);
  }

  /** Drops the tables whose start position lies behind `position`; called now and then. */
  passed(position: Position): void {
    for (const [number, start] of this.early) if (position.covers(start)) this.early.delete(number);
    if (this.early.size === 0) this.skipped = new Set();
  }

  isSkipped(table: MigrationTable): boolean {
    return this.skipped.has(table.number);
  }

  /** @throws DroverError DDL_UNSUPPORTED when the table's columns in the binlog are not those of its definition */
  sink(binlog: BinlogTable): RowSink | null {
    const table = this.get(binlog.schema, binlog.table);
    if (table === undefined && this.isMissed(binlog)) throw notFollowed(binlog, "its rows were changed");
    // One that starts over is copied later than all that is read now.
    if (table === undefined || table.phase === "pending") return null;
    // Without names (or with a type that is not known) the stream stops by itself, with a cure, as soon as a sink is asked of it.
    if (binlog.columns.length === 0) return this.isSkipped(table) ? null : { columns: [], keyCells: [], row: () => undefined };
    const places = new Map(binlog.columns.map((column, i) => [column.name.toLowerCase(), i]));
    const columns = copiedColumns(table.definition);
    const { key } = table.definition;
    const difference = shapeDifference(table.definition, binlog, this.naming);
    if (difference !== null)
      return this.unusable(table, `the columns of ${binlog.schema}.${binlog.table} in the binlog are not those that are being followed (${difference})`, "the table was altered in a way that was not seen; start its migration anew");
    if (key === null && !this.mayLackKey(table))
      return this.unusable(table, `rows of a table that cannot be followed were changed: ${whyNoKey(table.definition)}`, "give it a primary key on the source and start the migration anew, or leave the table out");
    return {
      columns: columns.map((column) => places.get(column.name.toLowerCase()) as number),
      formats: columns.map((column) => FORMATS[column.dataType] ?? null),
      // Without a key the whole row is what tells it apart.
      keyCells: key === null ? columns.map((_, i) => i) : key.columns.map((name) => columns.findIndex((column) => column.name === name)),
      row: (beforeKey, afterKey, after) => {
        if (!this.skipped.has(table.number)) this.receive(table, beforeKey, afterKey, after);
      },
    };
  }

  /** Right for events from before a DDL that the definition has already seen; an error for others. */
  private unusable(table: MigrationTable, message: string, cure: string): RowSink {
    const error = new DroverError("DDL_UNSUPPORTED", message, { cure });
    if (!this.isSkipped(table)) throw error;
    const row = () => {
      if (!this.isSkipped(table)) throw error;
    };
    return { columns: [], formats: [], keyCells: [], row };
  }

  private keyOf(schema: string, table: string): string {
    const key = JSON.stringify([schema, table]);
    return this.naming.ignoreCase ? key.toLowerCase() : key;
  }
}
