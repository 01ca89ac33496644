import { DroverError } from "../../shared/errors.js";
import { CHECKSUM_SIZE, verifyChecksum } from "./checksum.js";
import { DecodeError } from "./decode-error.js";
import { EVENT, eventName, HEADER_SIZE, IGNORABLE_FLAG } from "./event-types.js";
import type { BinlogHandler } from "./events.js";
import { decodeFormatDescription } from "./format-description.js";
import type { RowsKind } from "./followed-table.js";
import { anonymousError, GtidEventDecoder } from "./gtid-event.js";
import { decompressEvent } from "./mariadb-compression.js";
import { decodeMariadbGtid } from "./mariadb-gtid-event.js";
import { PayloadReader } from "./payload-event.js";
import { classifyQuery, type QueryKind } from "./query-kind.js";
import { decodeQuery, sqlOffset } from "./query-event.js";
import { TableRegistry } from "./table-registry.js";
import { decodeTaggedGtid } from "./tagged-gtid-event.js";

/** Bytes of the fixed fields that EXECUTE_LOAD_QUERY has more than a Query event. */
const LOAD_QUERY_FIELDS = 13;

/** What can always be done. */
const LOOK = "look at this transaction with mysqlbinlog; start the migration anew, or without the table";

/**
 * Turns raw binlog events into calls of a `BinlogHandler`.
 *
 * A transaction is a group of events: a GTID event, then either one statement alone (DDL), or BEGIN, table maps, rows and
 * statements, and an end (an XID event, COMMIT, ROLLBACK, or XA PREPARE). The handler sees `begin` at the GTID event and `commit`
 * at the end of the group; a group that is rolled back or only prepared is committed as an empty one, and stops the stream
 * when rows of wanted tables were in it.
 *
 * `event` does the whole work of an event at once, except for compressed transactions: it returns true for these, and `step`
 * has to be called until it returns false before the next event may come.
 */
export class BinlogDecoder {
  private readonly gtids = new GtidEventDecoder();
  private readonly tables: TableRegistry;
  private checksums: boolean | null = null;
  private mariadb = false;
  private payload: PayloadReader | null = null;

  /** The open transaction, or the last one: for messages. */
  private gtid = "";
  /** Between a GTID event and the end of its group. */
  private open = false;
  /** Whether the group goes on after a statement. */
  private inTransaction = false;
  /** Whether the handler got rows or statements that count only if the group is committed. */
  private delivered = false;
  /** MariaDB: the group is one whose statement must not be run, or that is only prepared. */
  private ignoredAlter = false;
  private preparedXa = false;

  constructor(private readonly handler: BinlogHandler) {
    this.tables = new TableRegistry(handler, () => this.mariadb);
  }

  /**
   * Decodes one event, header and checksum included.
   * @returns whether `step` has work left
   * @throws DroverError UNDECODABLE, DDL_UNSUPPORTED, or whatever the handler throws
   */
  event(bytes: Buffer, start: number, end: number): boolean {
    try {
      if (end - start < HEADER_SIZE || bytes.readUInt32LE(start + 9) !== end - start) throw new DecodeError("an event has another size than it says");
      const type = bytes[start + 4] as number;
      if (type === EVENT.ROTATE || type === EVENT.HEARTBEAT || type === EVENT.HEARTBEAT_V2) {
        // Made up by the dump thread, before or between the files' own format descriptions; nothing in them is used.
        return false;
      }
      if (type === EVENT.FORMAT_DESCRIPTION) {
        this.formatDescription(bytes, start, end);
        return false;
      }
      if (this.checksums === null) throw new DecodeError("the stream does not begin with a format description");
      if (this.checksums) {
        verifyChecksum(bytes, start, end);
        end -= CHECKSUM_SIZE;
      }
      if (type === EVENT.TRANSACTION_PAYLOAD) {
        if (!this.open) throw new DecodeError("a compressed transaction has no GTID");
        this.payload = new PayloadReader(bytes, start, end, (inner, from, to) => this.dispatch(inner, from, to));
        return true;
      }
      this.dispatch(bytes, start, end);
      return false;
    } catch (error) {
      throw this.located(error);
    }
  }

  /** Goes on with a compressed transaction for some milliseconds at most; returns whether more is left. */
  step(): boolean {
    try {
      if (this.payload?.step() === true) return true;
      this.payload = null;
      return false;
    } catch (error) {
      throw this.located(error);
    }
  }

  /** Gives back the memory of a compressed transaction that is not worked off to its end. */
  close(): void {
    this.payload?.close();
    this.payload = null;
  }

  private formatDescription(bytes: Buffer, start: number, end: number): void {
    if (this.open) throw new DecodeError("a transaction has no end");
    const format = decodeFormatDescription(bytes, start, end);
    this.checksums = format.checksums;
    this.mariadb = /mariadb/i.test(format.serverVersion);
  }

  /** One event without its checksum; also those inside a compressed transaction. */
  private dispatch(bytes: Buffer, start: number, end: number): void {
    const type = bytes[start + 4] as number;
    switch (type) {
      case EVENT.TABLE_MAP:
        this.requireOpen(type);
        return this.tables.map(bytes, start, end);
      case EVENT.WRITE_ROWS:
        return this.rows("write", true, bytes, start, end);
      case EVENT.UPDATE_ROWS:
        return this.rows("update", true, bytes, start, end);
      case EVENT.DELETE_ROWS:
        return this.rows("delete", true, bytes, start, end);
      case EVENT.WRITE_ROWS_V1:
        return this.rows("write", false, bytes, start, end);
      case EVENT.UPDATE_ROWS_V1:
        return this.rows("update", false, bytes, start, end);
      case EVENT.DELETE_ROWS_V1:
        return this.rows("delete", false, bytes, start, end);
      case EVENT.QUERY:
        return this.query(bytes, start, end);
      case EVENT.XID:
        return this.commit();
      case EVENT.GTID:
        return this.begin(this.gtids.decode(bytes, start, end));
      case EVENT.GTID_TAGGED:
        return this.begin(decodeTaggedGtid(bytes, start, end));
      case EVENT.MARIADB_GTID: {
        const transaction = decodeMariadbGtid(bytes, start, end);
        this.begin({ gtid: transaction.gtid, committedAt: transaction.committedAt });
        this.inTransaction = !transaction.standalone;
        this.preparedXa = transaction.preparedXa;
        this.ignoredAlter = transaction.ignoredAlter;
        return;
      }
      default:
        return this.rare(type, bytes, start, end);
    }
  }

  private rare(type: number, bytes: Buffer, start: number, end: number): void {
    switch (type) {
      case EVENT.EXECUTE_LOAD_QUERY:
        this.requireOpen(type);
        return this.statement(decodeQuery(bytes, start, end, LOAD_QUERY_FIELDS));
      case EVENT.XA_PREPARE:
        this.requireOpen(type);
        // The first byte says that the transaction was committed in one phase.
        if (bytes[start + HEADER_SIZE] === 0) this.requireNothingDelivered("XA PREPARE");
        return this.commit();
      case EVENT.PARTIAL_UPDATE_ROWS: {
        this.requireOpen(type);
        const table = this.tables.tableOf(bytes, start);
        if (table === null) return;
        throw new DecodeError(
          `an update of ${table.name} is in the binlog as a partial update of JSON (of the columns ${table.jsonColumns})`,
          "clear binlog_row_value_options on the source, globally and in sessions that set their own, and start the migration anew",
        );
      }
      case EVENT.ANONYMOUS_GTID:
        throw anonymousError();
      case EVENT.INCIDENT:
        throw new DecodeError("the source has noted an incident in its binlog (LOST_EVENTS): changes are missing from it", "start the migration anew");
      case EVENT.MARIADB_QUERY_COMPRESSED:
      case EVENT.MARIADB_WRITE_ROWS_COMPRESSED_V1:
      case EVENT.MARIADB_UPDATE_ROWS_COMPRESSED_V1:
      case EVENT.MARIADB_DELETE_ROWS_COMPRESSED_V1:
      case EVENT.MARIADB_WRITE_ROWS_COMPRESSED:
      case EVENT.MARIADB_UPDATE_ROWS_COMPRESSED:
      case EVENT.MARIADB_DELETE_ROWS_COMPRESSED: {
        this.requireOpen(type);
        const plain = decompressEvent(type, bytes, start, end);
        return this.dispatch(plain, 0, plain.length);
      }
      case EVENT.STOP:
      case EVENT.SLAVE:
      // Parts of a statement whose text follows in a Query event, which decides.
      case EVENT.INTVAR:
      case EVENT.RAND:
      case EVENT.USER_VAR:
      case EVENT.BEGIN_LOAD_QUERY:
      case EVENT.APPEND_BLOCK:
      case EVENT.DELETE_FILE:
      case EVENT.IGNORABLE:
      case EVENT.ROWS_QUERY:
      case EVENT.PREVIOUS_GTIDS:
      // Group replication's own.
      case EVENT.TRANSACTION_CONTEXT:
      case EVENT.VIEW_CHANGE:
      case EVENT.MARIADB_ANNOTATE_ROWS:
      case EVENT.MARIADB_BINLOG_CHECKPOINT:
      case EVENT.MARIADB_GTID_LIST:
      case EVENT.MARIADB_START_ENCRYPTION:
        return;
      default:
        if ((bytes.readUInt16LE(start + 17) & IGNORABLE_FLAG) !== 0) return;
        throw new DecodeError(`the binlog holds the unknown ${eventName(type)}`);
    }
  }

  private rows(kind: RowsKind, extraData: boolean, bytes: Buffer, start: number, end: number): void {
    this.requireOpen(bytes[start + 4] as number);
    const table = this.tables.tableOf(bytes, start);
    if (table === null) return;
    this.delivered = true;
    let at = start + HEADER_SIZE + 8;
    // The second version has extra data (of NDB, partitions); its length counts its own two bytes.
    if (extraData) at += (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
    try {
      table.decode(kind, bytes, at, end);
    } catch (error) {
      // Reads beyond the buffer: the event is shorter than its content says.
      if (error instanceof RangeError) throw new DecodeError(`a rows event of ${table.name} is damaged`);
      throw error;
    }
  }

  private query(bytes: Buffer, start: number, end: number): void {
    if (!this.open) throw anonymousError();
    const kind: QueryKind = classifyQuery(bytes, sqlOffset(bytes, start), end);
    switch (kind) {
      case "begin":
        this.inTransaction = true;
        return;
      case "commit":
        return this.commit();
      case "rollback":
        this.requireNothingDelivered("ROLLBACK");
        return this.commit();
      case "rollback to savepoint":
        // Only logged when the changes since then could not be cut off, for example those of a MyISAM table.
        return this.requireNothingDelivered("ROLLBACK TO SAVEPOINT");
      case "none":
        return;
      case "xa end":
        return this.commit();
      case "statement":
        return this.statement(decodeQuery(bytes, start, end));
      case "statement with rows":
        // CREATE TABLE … SELECT of 8.0.21 and later: the statement ends with START TRANSACTION and rows follow.
        this.inTransaction = true;
        return this.statement(decodeQuery(bytes, start, end));
    }
  }

  private statement(statement: ReturnType<typeof decodeQuery>): void {
    if (!this.ignoredAlter) this.handler.statement({ ...statement, withRows: this.inTransaction });
    if (!this.inTransaction) this.commit();
  }

  private begin(transaction: Parameters<BinlogHandler["begin"]>[0]): void {
    if (this.open) throw new DecodeError("a transaction has no end");
    this.gtid = transaction.gtid;
    this.open = true;
    this.inTransaction = false;
    this.delivered = false;
    this.preparedXa = false;
    this.ignoredAlter = false;
    this.tables.begin();
    this.handler.begin(transaction);
  }

  private commit(): void {
    if (!this.open) throw anonymousError();
    if (this.preparedXa) this.requireNothingDelivered("XA PREPARE");
    this.open = false;
    this.inTransaction = false;
    this.tables.trim();
    this.handler.commit();
  }

  private requireOpen(type: number): void {
    if (!this.open) throw new DecodeError(`the ${eventName(type)} has no GTID`);
  }

  private requireNothingDelivered(end: string): void {
    if (!this.delivered) return;
    throw new DecodeError(
      `a transaction that changed followed tables ends with ${end}: the binlog does not tell what of it took effect`,
      end === "XA PREPARE"
        ? "finish the XA transactions on the source (XA RECOVER lists them), keep XA away from the followed tables, and start the migration anew"
        : "convert the tables of the transaction that are not transactional, such as MyISAM, and start the migration anew",
      "DDL_UNSUPPORTED",
    );
  }

  /** The error with the transaction's name. */
  private located(error: unknown): unknown {
    const where = this.gtid === "" ? "" : `, ${this.open ? "in" : "after"} transaction ${this.gtid}`;
    if (error instanceof DecodeError) return new DroverError(error.code, error.message + where, { cure: error.cure ?? LOOK, cause: error });
    if (error instanceof RangeError) return new DroverError("UNDECODABLE", `an event is damaged${where}`, { cure: LOOK, cause: error });
    return error;
  }
}
