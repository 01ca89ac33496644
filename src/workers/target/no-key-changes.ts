/**
 * Carries out the changes of a table without a key: in their order, one by one, each on one row that equals the old image in every
 * byte. Nothing of it may happen twice, and three things see to that, all under the fence's lock, in its transaction:
 *
 * - what the table's rows hold already, by the exact position of the read that copied them, is passed over;
 * - so is everything while the table is not copied yet: the read to come will see it;
 * - of a transaction that goes out in parts, the place up to which it was applied is kept with the table.
 *
 * A row that is not there stops the migration: somebody else has written to the target.
 */
import { writtenAs } from "../../shared/columns/create-dialect.js";
import type { TransactionChanges } from "../../shared/backlog/batch.js";
import { columnType } from "../../shared/columns/column-types.js";
import { ReplaceWriter } from "../../shared/columns/replace-writer.js";
import { copiedColumns, type ColumnDefinition, type TableDefinition } from "../../shared/columns/table-definition.js";
import { rowCells } from "../../shared/columns/text-row.js";
import { DroverError } from "../../shared/errors.js";
import { bytesLiteral, identifier, qualified, sql, type ByteSql } from "../../shared/mysql/bytes.js";
import { Position } from "../../shared/mysql/position.js";
import type { Session } from "../../shared/mysql/session.js";
import type { State } from "../../shared/state/state.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import { replaceRows, statementBytes } from "./checked-write.js";

/** Rows of one INSERT: its warnings must all be listed by the server. */
const INSERT_ROWS = 500;

/**
 * The caller holds the fence's exclusive lock.
 * @param part the batch ends within a transaction
 * @throws DroverError ROW_MISSING, ROW_REFUSED
 */
export async function applyNoKeyChanges(state: State, session: Session, migration: string, number: number, transactions: readonly TransactionChanges[], part: boolean): Promise<void> {
  const table = await state.tables.require(session, migration, number);
  if (!(await isCopied(state, session, migration, table))) return;
  const start = Position.parse(table.startPosition);
  const mark = table.noKeyMark;
  const writer = new RowWriter(session, table);
  for (const { gtid, first, rows } of transactions) {
    if (start.contains(gtid)) continue;
    const done = mark?.gtid === gtid ? Math.max(0, mark.applied - first) : 0;
    for (const { before, after } of rows.slice(done)) {
      if (before !== null && after !== null && before.equals(after)) continue;
      if (before !== null) await writer.remove(before);
      if (after !== null) await writer.add(after);
    }
  }
  await writer.flush();
  const last = transactions.at(-1);
  if (!part || last === undefined) return;
  // Read again from its beginning, a transaction passes what it had applied before.
  const applied = Math.max(last.first + last.rows.length, mark?.gtid === last.gtid ? mark.applied : 0);
  await state.tables.setNoKeyMark(session, migration, number, { gtid: last.gtid, applied });
}

/** Its only chunk is done; or its rows came otherwise (`mode: follow`, a table created during the follow). */
async function isCopied(state: State, session: Session, migration: string, table: MigrationTable): Promise<boolean> {
  if (table.phase === "copied") return true;
  if (table.phase === "pending") return false;
  return (await state.chunks.read(session, migration, table.number, 1))?.done === true;
}

class RowWriter {
  private readonly session: Session;
  private readonly table: MigrationTable;
  /** INSERT, not REPLACE: a unique value that is there already must not push out a row in silence. */
  private readonly inserts: ReplaceWriter;

  constructor(session: Session, table: MigrationTable) {
    this.session = session;
    this.table = table;
    this.inserts = new ReplaceWriter(writtenAs(table.definition, session.isMariaDb ? "mariadb" : "mysql"), table.target, { maxBytes: statementBytes(session), maxRows: INSERT_ROWS, verb: "INSERT" });
  }

  async add(row: Buffer): Promise<void> {
    const full = this.inserts.add(row);
    if (full) await replaceRows(this.session, full, this.table);
  }

  async remove(row: Buffer): Promise<void> {
    await this.flush();
    const { target, definition } = this.table;
    const { affectedRows } = await this.session.run(sql`DELETE FROM ${qualified(target.schema, target.table)} WHERE ${sameRow(definition, row)} LIMIT 1`);
    if (affectedRows === 1) return;
    throw new DroverError("ROW_MISSING", `${this.session.server}: ${target.schema}.${target.table}, which has no key, lacks a row that the source has changed`, {
      cure: "somebody else has written to it on the target: remove the migration and start it anew for this table",
    });
  }

  async flush(): Promise<void> {
    const rest = this.inserts.finish();
    if (rest) await replaceRows(this.session, rest, this.table);
  }
}

/** True for rows whose every cell has exactly these bytes. Indexes help to find them. */
function sameRow(definition: TableDefinition, row: Buffer): ByteSql {
  const columns = copiedColumns(definition);
  const leading = new Set(definition.indexes.filter((index) => index.kind === "btree" && index.invisible !== true && index.parts[0]?.prefix === null).map((index) => index.parts[0]?.column));
  const terms = rowCells(row).flatMap((bytes, i) => {
    const column = columns[i] as ColumnDefinition;
    const name = identifier(column.name);
    if (bytes === null) return [sql`${name} IS NULL`];
    const cell = bytes.toString("latin1");
    const type = columnType(definition, column);
    // MariaDB's types of packed bytes have one text for each value.
    if (type.write === "_ascii") return [sql`${name}=${type.bound?.(cell) ?? (bytesLiteral(cell) as ByteSql)}`];
    const exact = sql`CAST(${type.read(name)} AS BINARY) <=> ${`_binary${bytesLiteral(cell)}` as ByteSql}`;
    return leading.has(column.name) && type.bound !== null && type.highest === null ? [sql`${name}=${type.bound(cell)}`, exact] : [exact];
  });
  return terms.join(" AND ") as ByteSql;
}
