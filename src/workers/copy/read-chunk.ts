/** One chunk read: a single autocommit SELECT into bounded memory; the source holds nothing afterwards. */
import type { TableDefinition } from "../../shared/columns/table-definition.js";
import { BINARY_NAMES, FILTER_NAMES, chunkSelect } from "../../shared/keys/chunk-select.js";
import { keyOf } from "../../shared/keys/key-of.js";
import type { KeyRange } from "../../shared/keys/key-predicate.js";
import type { Session } from "../../shared/mysql/session.js";
import type { RowBuffer } from "../target/row-buffer.js";

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
