/**
 * A batch: consecutive whole source transactions as their net effect, per table the keys that have no image left and
 * the last images of the others. A batch is either rows or one statement (DDL, a barrier of its own).
 *
 * Wire form: a 32-bit length, a JSON header without row values, then the rows: per table its deletes, then its puts,
 * each a 32-bit length and the bytes.
 */

export interface BatchTable {
  /** Number of the table in the migration. */
  number: number;
  /** Text rows of the key cells. */
  deletes: Buffer[];
  /** Text rows of the copied columns. */
  puts: Buffer[];
  /** Of a table without a key, in place of deletes and puts: its changes in their order. */
  changes?: TransactionChanges[];
}

/** Changes of one table without a key in one transaction; text rows of the copied columns, null where there is none. */
export interface TransactionChanges {
  gtid: string;
  /** How many changes of the table came before these in the transaction: in earlier parts. */
  first: number;
  rows: { before: Buffer | null; after: Buffer | null }[];
}

/** A statement of the binlog (see `workers/binlog/events.ts`), as JSON can hold it. */
export interface BatchStatement {
  /** The transaction that it is. */
  gtid: string;
  /** The statement's bytes in latin1 (one character a byte). */
  sql: string;
  schema: string;
  clientCollation: number;
  connectionCollation: number;
  serverCollation: number;
  /** Bits, in decimal. */
  sqlMode: string;
  timestamp: string;
  timeZone: string | null;
  utf8mb4Collation: number | null;
  explicitDefaults: boolean | null;
  withRows: boolean;
}

export interface Batch {
  tables: BatchTable[];
  statement: BatchStatement | null;
}

/** What the chain says of a batch; no row values. */
export interface BatchInfo {
  /** The chain that it stands in (`Tip.chain`). */
  chain: string;
  /** It ends within a transaction, of which more is to come. */
  part?: boolean;
  /** The fence's epoch in which it was cut; void in any other. */
  epoch: number;
  /** The fence's `seq` after this batch. */
  seq: number;
  /** Positions before and after. Equal for all but the last part of a transaction that goes out in parts. */
  from: string;
  to: string;
  rows: number;
  transactions: number;
  /** Commit time on the source of its last transaction, milliseconds since the epoch. */
  sourceTime: number;
  /** It is a statement: the tail goes on when it was executed. */
  barrier?: boolean;
}

interface Header {
  /** `kinds` of changes: a character for each, `i`nsert, `d`elete, `u`pdate. */
  tables: { number: number; deletes: number; puts: number; changes?: { gtid: string; first: number; kinds: string }[] }[];
  statement: BatchStatement | null;
}

export function encodeBatch(batch: Batch): Buffer {
  const header: Header = {
    tables: batch.tables.map((t) => ({
      number: t.number, deletes: t.deletes.length, puts: t.puts.length,
      ...(t.changes ? { changes: t.changes.map(({ gtid, first, rows }) => ({ gtid, first, kinds: rows.map(kindOf).join("") })) } : {}),
    })),
    statement: batch.statement,
  };
  const head = Buffer.from(JSON.stringify(header), "utf8");
  let size = 4 + head.length;
  for (const table of batch.tables) for (const rows of rowListsOf(table)) for (const row of rows) size += 4 + row.length;
  const out = Buffer.allocUnsafe(size);
  let offset = out.writeUInt32LE(head.length, 0);
  offset += head.copy(out, offset);
  for (const table of batch.tables) {
    for (const rows of rowListsOf(table)) {
      for (const row of rows) {
        offset = out.writeUInt32LE(row.length, offset);
        out.set(row, offset);
        offset += row.length;
      }
    }
  }
  return out;
}

function kindOf({ before, after }: TransactionChanges["rows"][number]): string {
  return before === null ? "i" : after === null ? "d" : "u";
}

/** In the order in which they stand in the payload. */
function rowListsOf(table: BatchTable): Buffer[][] {
  const changed = (table.changes ?? []).map(({ rows }) => rows.flatMap(({ before, after }) => [before, after].filter((row) => row !== null)));
  return [table.deletes, table.puts, ...changed];
}

/** The rows are views into `bytes`. */
export function decodeBatch(bytes: Buffer): Batch {
  const headLength = bytes.readUInt32LE(0);
  const header = JSON.parse(bytes.toString("utf8", 4, 4 + headLength)) as Header;
  let offset = 4 + headLength;
  const take = (count: number): Buffer[] => {
    const rows = new Array<Buffer>(count);
    for (let i = 0; i < count; i++) {
      const length = bytes.readUInt32LE(offset);
      rows[i] = bytes.subarray(offset + 4, offset + 4 + length);
      offset += 4 + length;
    }
    return rows;
  };
  const one = () => take(1)[0] as Buffer;
  const tables = header.tables.map((t): BatchTable => ({
    number: t.number, deletes: take(t.deletes), puts: take(t.puts),
    ...(t.changes ? { changes: t.changes.map(({ gtid, first, kinds }) => ({ gtid, first, rows: Array.from(kinds, (kind) => ({ before: kind === "i" ? null : one(), after: kind === "d" ? null : one() })) })) } : {}),
  }));
  return { tables, statement: header.statement };
}
