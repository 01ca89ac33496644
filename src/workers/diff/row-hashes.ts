/** Keys and hashes of single rows. Values stay on the servers: what travels is a key and 32 bytes a row. */
import { sql, utf8Sql, type ByteSql } from "../../shared/mysql/bytes.js";
import { rowHashExpression } from "../../shared/columns/row-hash.js";
import { selectList } from "../../shared/columns/select-list.js";
import type { TableDefinition } from "../../shared/columns/table-definition.js";
import { rowHashSelect } from "../../shared/keys/chunk-hash.js";
import { keyedTable } from "../../shared/keys/chunk-select.js";
import { keyOfTable } from "../../shared/keys/key-columns.js";
import { keyIn, keyListForm, type KeyRange } from "../../shared/keys/key-predicate.js";
import type { SideName, Sides } from "./sides.js";
import type { Subject } from "./subject.js";
import { limited } from "./time-limit.js";

/** Row hashes by key; both as latin1 strings of their bytes. A key is a text row of key cells. */
export type RowHashes = Map<string, string>;

/** A cell of 32 bytes with its length. */
const HASH_CELL = 33;

/**
 * All rows of a range; null when there are more than `rows`.
 * @param limits.time when the source ends the statement, in milliseconds; null for the session's own limit
 */
export async function rangeRowHashes(sides: Sides, side: SideName, subject: Subject, range: KeyRange, limits: { rows: number; time: number | null }): Promise<RowHashes | null> {
  const hashes: RowHashes = new Map();
  await sides.read(side, subject, (session, definition) =>
    session.readRows(limited(session, sql`${rowHashSelect(definition, { ...range, where: subject.where })} LIMIT ${limits.rows + 1}`, side === "source" ? limits.time : null), (buffer, start, end) => addRow(hashes, buffer, start, end)),
  );
  return hashes.size <= limits.rows ? hashes : null;
}

/** The rows that have one of the keys, on one side. Keys that no row has are not in the result. */
export async function rowHashesByKey(sides: Sides, side: SideName, subject: Subject, keys: readonly string[]): Promise<RowHashes> {
  const hashes: RowHashes = new Map();
  await sides.read(side, subject, async (session, definition) => {
    for (const some of byStatement(definition, keys))
      await session.readRows(sql`SELECT ${keyList(definition)}, UNHEX(${rowHashExpression(definition)}) ${fromKeys(definition, some, subject.where)}`, (buffer, start, end) => addRow(hashes, buffer, start, end));
  });
  return hashes;
}

/** The keys in lists that one statement holds. */
export function* byStatement(definition: TableDefinition, keys: readonly string[]): Generator<readonly string[]> {
  const { maxItems } = keyListForm(keyOfTable(definition).columns);
  for (let i = 0; i < keys.length; i += maxItems) yield keys.slice(i, i + maxItems);
}

/** `FROM … WHERE` for rows that have one of the keys and pass the filter. */
export function fromKeys(definition: TableDefinition, keys: readonly string[], where: string | null): ByteSql {
  // On lines of its own: a filter may end in a comment.
  const filter = (where === null ? "" : ` AND (\n${utf8Sql(where)}\n)`) as ByteSql;
  return sql`FROM ${keyedTable(definition)} WHERE ${keyIn(definition, keys)}${filter}`;
}

export function keyList(definition: TableDefinition): ByteSql {
  return selectList(definition, keyOfTable(definition).columns.map((c) => c.column));
}

function addRow(hashes: RowHashes, buffer: Buffer, start: number, end: number): void {
  hashes.set(buffer.toString("latin1", start, end - HASH_CELL), buffer.toString("latin1", end - HASH_CELL + 1, end));
}
