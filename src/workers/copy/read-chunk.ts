/** One chunk read: a single autocommit SELECT into bounded memory; the source holds nothing afterwards. */
import { LoadWriter, type LoadFile } from "../../shared/columns/load-writer.js";
import { ReplaceWriter, type ReplaceStatement } from "../../shared/columns/replace-writer.js";
import type { TableDefinition, TableName } from "../../shared/columns/table-definition.js";
import { BINARY_NAMES, FILTER_NAMES, chunkSelect } from "../../shared/keys/chunk-select.js";
import { keyOf } from "../../shared/keys/key-of.js";
import type { Session } from "../../shared/mysql/session.js";
import type { KeyRange } from "../../shared/state/chunks.js";

export interface ReadLimits {
  /** The read ends behind the row with which one of these is reached. */
  rows: number;
  bytes: number;
  /** milliseconds */
  time: number;
}

export interface ChunkRows {
  rows: number;
  bytes: number;
  /** The key of the last row when the read ended before the range did; the rest is `(stoppedAt, upper]`. */
  stoppedAt: Buffer | null;
}

/** Where the rows of a chunk go while they are read: already in the form in which they are written. */
export interface RowBuffer {
  add(row: Buffer, start: number, end: number): void;
  /** What to send, in order. */
  content(): { file: LoadFile | null } | { statements: ReplaceStatement[] };
  reset(): void;
}

/** The fast way: a file for LOAD DATA LOCAL. */
export function loadBuffer(definition: TableDefinition, target: TableName): RowBuffer {
  const writer = new LoadWriter(definition, target);
  return {
    add: (row, start, end) => writer.add(row, start, end),
    content: () => ({ file: writer.finish() }),
    reset: () => writer.reset(),
  };
}

/** For targets with local_infile=OFF. */
export function replaceBuffer(definition: TableDefinition, target: TableName, maxBytes: number): RowBuffer {
  const writer = new ReplaceWriter(definition, target, { maxBytes, maxRows: 5_000 });
  let statements: ReplaceStatement[] = [];
  const keep = (statement: ReplaceStatement | null) => {
    if (statement) statements.push(statement);
  };
  return {
    add: (row, start, end) => keep(writer.add(row, start, end)),
    content: () => {
      keep(writer.finish());
      return { statements };
    },
    reset: () => {
      writer.finish();
      statements = [];
    },
  };
}

/** How many rows pass between two looks at the clock. */
const CLOCK_STRIDE = 64;

export async function readChunk(session: Session, definition: TableDefinition, range: KeyRange, where: string | null, limits: ReadLimits, into: RowBuffer): Promise<ChunkRows> {
  const keyOfRow = keyOf(definition);
  const deadline = Date.now() + limits.time;
  let rows = 0;
  let bytes = 0;
  let stoppedAt: Buffer | null = null;
  if (where !== null) await session.run(FILTER_NAMES);
  const complete = await session.readRows(chunkSelect(definition, { ...range, where }), (row, start, end) => {
    into.add(row, start, end);
    rows += 1;
    bytes += end - start;
    const enough = rows >= limits.rows || bytes >= limits.bytes || (rows % CLOCK_STRIDE === 0 && Date.now() > deadline);
    if (enough) stoppedAt = Buffer.from(keyOfRow(row, start, end));
    return !enough;
  });
  if (complete && where !== null) await session.run(BINARY_NAMES);
  return { rows, bytes, stoppedAt: complete ? null : stoppedAt };
}
