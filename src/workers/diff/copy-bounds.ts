/** The copy's chunk bounds, which the diff reuses: no walk over the key is needed where the copy has walked already. */
import { keyOfTable } from "../../shared/keys/key-columns.js";
import { conditions, keyedTable } from "../../shared/keys/chunk-select.js";
import { rowCells } from "../../shared/columns/text-row.js";
import type { TableDefinition } from "../../shared/columns/table-definition.js";
import { identifier, sql, type ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import { id, numberOf } from "../../shared/state/values.js";
import type { PlannedChunk } from "../../shared/state/diff-tables.js";

/** A table with more chunks than this is walked instead: the list must fit into memory. */
const MOST_CHUNKS = 200_000;

export interface CopiedChunk {
  /** Hex; empty for the open end. */
  lower: string;
  upper: string;
  rows: number;
  bytes: number;
}

/** The finished chunks of a table, in no order: numbers do not tell it, the rest of a chunk that was cut short comes last. */
export async function copiedChunks(session: Session, schema: string, migration: string, table: number): Promise<CopiedChunk[]> {
  const rows = await session.rows(sql`SELECT COALESCE(HEX(lower_key),'') AS lower, COALESCE(HEX(upper_key),'') AS upper, row_count, byte_count FROM ${identifier(schema)}.chunks
    WHERE migration=${id(migration)} AND table_number=${table} AND state='done' LIMIT ${MOST_CHUNKS + 1}`);
  if (rows.length > MOST_CHUNKS) return [];
  return rows.map((row) => ({ lower: row["lower"] ?? "", upper: row["upper"] ?? "", rows: numberOf(row, "row_count"), bytes: numberOf(row, "byte_count") }));
}

export interface MergeLimits {
  rows: number;
  bytes: number;
  chunks: number;
}

/** Merges neighbours behind the bound `after` up to the limits; a chunk that is larger by itself stays as it is. */
export function mergeChunks(copied: readonly CopiedChunk[], after: Buffer | null, limits: MergeLimits): PlannedChunk[] {
  const merged: PlannedChunk[] = [];
  let open: CopiedChunk | undefined;
  for (const next of behind(chainOf(copied), after)) {
    if (open !== undefined && (open.rows + next.rows > limits.rows || open.bytes + next.bytes > limits.bytes)) {
      merged.push(plannedOf(open));
      open = undefined;
      if (merged.length >= limits.chunks) return merged;
    }
    open = open === undefined ? next : { lower: open.lower, upper: next.upper, rows: open.rows + next.rows, bytes: open.bytes + next.bytes };
  }
  if (open !== undefined) merged.push(plannedOf(open));
  return merged;
}

/**
 * The chunks one behind the other from the table's beginning on. Ends before an open end, where a bound has no chunk, and
 * before a chunk that turns back: no bound comes twice, so that whoever goes from bound to bound along it comes to an end.
 */
function chainOf(copied: readonly CopiedChunk[]): CopiedChunk[] {
  // A chunk of no width (its read ended at its upper bound by chance, and the rest was empty) holds nothing and leads nowhere.
  const byLower = new Map(copied.filter((chunk) => chunk.lower !== chunk.upper).map((chunk) => [chunk.lower, chunk]));
  const chain: CopiedChunk[] = [];
  const bounds = new Set([""]);
  for (let next = byLower.get(""); next !== undefined && !bounds.has(next.upper); next = byLower.get(next.upper)) {
    bounds.add(next.upper);
    chain.push(next);
  }
  return chain;
}

/** The part of the chain behind a bound of it; nothing behind a bound that it does not have. */
function behind(chain: readonly CopiedChunk[], after: Buffer | null): readonly CopiedChunk[] {
  if (after === null) return chain;
  const bound = after.toString("hex").toUpperCase();
  const last = chain.findIndex((chunk) => chunk.upper === bound);
  return last < 0 ? [] : chain.slice(last + 1);
}

function plannedOf(open: CopiedChunk): PlannedChunk {
  return { lower: open.lower === "" ? null : Buffer.from(open.lower, "hex"), upper: Buffer.from(open.upper, "hex"), rows: open.rows };
}

/** Bounds checked by one statement. */
const CHECKED = 50;

/**
 * Whether the bounds still rise in the key's order, as far as there are rows between them: a key that was altered since the
 * copy has another order, or other columns.
 */
export async function boundsRise(session: Session, definition: TableDefinition, chunks: readonly PlannedChunk[]): Promise<boolean> {
  const width = keyOfTable(definition).columns.length;
  const bounds = chunks.flatMap((chunk, i) => (i === 0 ? [chunk.lower, chunk.upper] : [chunk.upper])).filter((bound) => bound !== null);
  if (bounds.some((bound) => rowCells(bound).length !== width)) return false;
  for (let i = 0; i + 1 < bounds.length; i += CHECKED) {
    const lookups = bounds.slice(i, i + CHECKED + 1).flatMap((bound, j, all) => {
      const next = all[j + 1];
      // Rows behind the next bound and at or before this one: there are none when the bounds rise.
      return next === undefined ? [] : [sql`(SELECT 1 FROM ${keyedTable(definition)}${conditions(definition, { lower: next, upper: bound })} LIMIT 1)`];
    });
    if ((await session.rows(lookups.join(" UNION ALL ") as ByteSql)).length > 0) return false;
  }
  return true;
}
