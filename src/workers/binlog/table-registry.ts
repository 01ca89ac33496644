import { DecodeError } from "./decode-error.js";
import type { BinlogHandler } from "./events.js";
import { FollowedTable } from "./followed-table.js";
import { RowDecoder } from "./row-decoder.js";
import { decodeTableMap, readTableId, TABLE_MAP_BODY } from "./table-map.js";
import { TYPE } from "./type-codes.js";

/** A source gives a table a new id whenever it opens it anew; old ids are forgotten at this many. */
const MAX_TABLES = 4096;

interface KnownTable {
  /** The TABLE_MAP event's bytes behind the table id: the same bytes mean the same table. */
  body: Buffer;
  schema: string;
  table: string;
  /** Null when the handler does not want it. */
  followed: FollowedTable | null;
  /** The transaction that mapped the id last: an id means nothing in another one. */
  transaction: number;
}

/** The tables that the stream's TABLE_MAP events have named, by table id. */
export class TableRegistry {
  private readonly tables = new Map<number, KnownTable>();
  private readonly rows = new RowDecoder();
  private readonly keys = new RowDecoder();
  private transaction = 0;
  private lastId = -1;
  private last: KnownTable | undefined;

  constructor(
    private readonly handler: BinlogHandler,
    private readonly mariadb: () => boolean,
  ) {}

  /** Begins a transaction: ids must be mapped again. */
  begin(): void {
    this.transaction += 1;
    if (this.tables.size > MAX_TABLES) {
      this.tables.clear();
      this.lastId = -1;
    }
  }

  /** Gives back what huge rows took. */
  trim(): void {
    this.rows.trim();
    this.keys.trim();
  }

  /** Takes the TABLE_MAP event at `start`; asks the handler unless the same bytes came for the id before. */
  map(bytes: Buffer, start: number, end: number): void {
    const id = readTableId(bytes, start);
    const known = id === this.lastId ? this.last : this.tables.get(id);
    const at = start + TABLE_MAP_BODY;
    if (known !== undefined && sameBytes(known.body, bytes, at, end - at)) {
      known.transaction = this.transaction;
      this.remember(id, known);
      return;
    }
    const map = decodeTableMap(bytes, start, end, this.mariadb());
    const { schema, table } = map;
    if (this.mariadb() && map.problem === null) map.problem = ambiguousTemporal(map);
    const columns = map.problem === null ? map.columns : [];
    const sink = this.handler.table({ schema, table, columns });
    const followed = sink === null ? null : new FollowedTable(map, sink, this.rows, this.keys);
    const entry = { body: Buffer.from(bytes.subarray(at, end)), schema, table, followed, transaction: this.transaction };
    this.tables.set(id, entry);
    this.remember(id, entry);
  }

  /** The table of the rows event at `start`, or null when it is not wanted. */
  tableOf(bytes: Buffer, start: number): FollowedTable | null {
    const id = readTableId(bytes, start);
    const known = id === this.lastId ? this.last : this.tables.get(id);
    if (known === undefined || known.transaction !== this.transaction) {
      throw new DecodeError("a rows event names a table id that its transaction has not mapped");
    }
    return known.followed;
  }

  private remember(id: number, table: KnownTable): void {
    this.lastId = id;
    this.last = table;
  }
}

function sameBytes(body: Buffer, bytes: Buffer, at: number, length: number): boolean {
  if (body.length !== length) return false;
  for (let i = 0; i < length; i++) if (body[i] !== bytes[at + i]) return false;
  return true;
}

/**
 * MariaDB's TIME, DATETIME and TIMESTAMP columns of before 10.1 (or of mysql56_temporal_format=OFF) may hold fractions in a
 * form of its own under the old type codes, and nothing in the binlog tells them apart.
 */
function ambiguousTemporal(map: { schema: string; table: string; columns: { name: string; type: number }[] }): DecodeError | null {
  const column = map.columns.find(({ type }) => type === TYPE.TIME || type === TYPE.DATETIME || type === TYPE.TIMESTAMP);
  if (column === undefined) return null;
  return new DecodeError(
    `the column ${column.name} of ${map.schema}.${map.table} is stored in a temporal format of before MariaDB 10.1`,
    "set mysql56_temporal_format=ON on the source, rebuild the table with ALTER TABLE … FORCE and start the migration anew",
  );
}
