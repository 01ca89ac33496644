/** Which tables of the binlog are ours, and how their columns stand in it. */
import { copiedColumns } from "../../shared/columns/table-definition.js";
import { DroverError } from "../../shared/errors.js";
import { Position } from "../../shared/mysql/position.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { BinlogTable, RowSink } from "../binlog/events.js";

export type RowReceiver = (table: MigrationTable, beforeKey: string | null, afterKey: string | null, after: Buffer | null) => void;

export class FollowedTables {
  private readonly byName = new Map<string, MigrationTable>();
  /** Tables whose start position the stream has not passed yet. */
  private readonly early = new Map<number, Position>();
  /** Of these, the ones that the transaction at hand is too old for. */
  private skipped = new Set<number>();
  private readonly receive: RowReceiver;

  constructor(tables: readonly MigrationTable[], from: Position, receive: RowReceiver) {
    this.receive = receive;
    for (const table of tables) {
      this.byName.set(tableKey(table.source.schema, table.source.table), table);
      const start = Position.parse(table.startPosition);
      if (!from.covers(start)) this.early.set(table.number, start);
    }
  }

  get(schema: string, table: string): MigrationTable | undefined {
    return this.byName.get(tableKey(schema, table));
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
    if (table === undefined) return null;
    const places = new Map(binlog.columns.map((column, i) => [column.name.toLowerCase(), i]));
    const columns = copiedColumns(table.definition);
    const missing = columns.find((column) => !places.has(column.name.toLowerCase()));
    const added = binlog.columns.find((column) => !table.definition.columns.some((known) => known.name.toLowerCase() === column.name.toLowerCase()));
    if (missing !== undefined || added !== undefined) {
      // An event from before a DDL that the definition has already seen.
      if (this.isSkipped(table)) return null;
      throw new DroverError("DDL_UNSUPPORTED", `the columns of ${binlog.schema}.${binlog.table} in the binlog are not those that are being followed (${(missing ?? added)?.name})`, {
        cure: "the table was altered in a way that was not seen; start its migration anew",
      });
    }
    const keyNames = table.definition.key?.columns ?? [];
    return {
      columns: columns.map((column) => places.get(column.name.toLowerCase()) as number),
      keyCells: keyNames.map((name) => columns.findIndex((column) => column.name === name)),
      row: (beforeKey, afterKey, after) => {
        if (!this.skipped.has(table.number)) this.receive(table, beforeKey, afterKey, after);
      },
    };
  }
}

function tableKey(schema: string, table: string): string {
  return JSON.stringify([schema, table]);
}
