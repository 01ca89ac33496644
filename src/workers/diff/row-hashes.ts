/** Keys and hashes of single rows. Values stay on the servers: what travels is a key and 32 bytes a row. */
import { sql, type ByteSql } from "../../shared/mysql/bytes.js";
import { selectList } from "../../shared/columns/select-list.js";
import { cellBehind } from "../../shared/columns/text-row.js";
import type { TableDefinition } from "../../shared/columns/table-definition.js";
import { conditions, keyedTable } from "../../shared/keys/chunk-select.js";
import { keyOfTable } from "../../shared/keys/key-columns.js";
import { keyIn, type KeyRange } from "../../shared/keys/key-predicate.js";
import { rowHashExpression } from "../../shared/columns/row-hash.js";
import type { SideName, Sides } from "./sides.js";
import type { Subject } from "./subject.js";

/** Row hashes by key; both as latin1 strings of their bytes. A key is a text row of key cells. */
export type RowHashes = Map<string, string>;

/**
 * Most key cells in one IN list: beyond `range_optimizer_max_mem_size` (8 MiB, some hundred bytes a cell) the server would scan
 * the table instead.
 */
const MAX_CELLS = 2_000;

/** All rows of a range; null when there are more than `limit`. */
export async function rangeRowHashes(sides: Sides, side: SideName, subject: Subject, range: KeyRange, limit: number): Promise<RowHashes | null> {
  const hashes: RowHashes = new Map();
  const complete = await sides.read(side, subject, (session, definition) =>
    session.readRows(sql`${head(definition)}${conditions(definition, { ...range, where: subject.where })} LIMIT ${limit + 1}`, (buffer, start, end) => addRow(hashes, buffer, start, end)),
  );
  return complete && hashes.size <= limit ? hashes : null;
}

/** The rows that have one of the keys, on one side. Keys that no row has are not in the result. */
export async function rowHashesByKey(sides: Sides, side: SideName, subject: Subject, keys: readonly string[]): Promise<RowHashes> {
  const hashes: RowHashes = new Map();
  const perStatement = Math.max(1, Math.floor(MAX_CELLS / keyOfTable(subject[side]).columns.length));
  await sides.read(side, subject, async (session, definition) => {
    for (let i = 0; i < keys.length; i += perStatement) {
      const filter = conditions(definition, { lower: null, upper: null, where: subject.where });
      const some = keyIn(definition, keys.slice(i, i + perStatement));
      await session.readRows(sql`${head(definition)} WHERE ${some}${filter === "" ? filter : sql` AND ${filter.replace(/^ WHERE /, "") as ByteSql}`}`, (buffer, start, end) => addRow(hashes, buffer, start, end));
    }
  });
  return hashes;
}

/** The hash comes first, so that the key's cells are the rest of the row. */
function head(definition: TableDefinition): ByteSql {
  const key = selectList(definition, keyOfTable(definition).columns.map((c) => c.column));
  return sql`SELECT UNHEX(${rowHashExpression(definition)}), ${key} FROM ${keyedTable(definition)}`;
}

function addRow(hashes: RowHashes, buffer: Buffer, start: number, end: number): void {
  const behind = cellBehind(buffer, start);
  // 32 bytes: their length prefix is one byte.
  hashes.set(buffer.toString("latin1", behind, end), buffer.toString("latin1", start + 1, behind));
}
