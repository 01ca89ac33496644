/**
 * Cuts a table into chunks by keyset steps in MySQL's own order, a portion at a time and not far ahead of the copy, so
 * that the sizes follow what the finished chunks measured.
 */
import type { MigrationOptions } from "../../shared/contracts/spec.js";
import { boundaryQuery, maxKeyQuery } from "../../shared/keys/boundary-query.js";
import type { KeyRange } from "../../shared/keys/key-predicate.js";
import type { ByteSql } from "../../shared/mysql/bytes.js";
import { isTimeLimit } from "../../shared/mysql/server-error.js";
import type { Session } from "../../shared/mysql/session.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { waitUntilVisible } from "../visibility.js";
import { readError } from "../copy/table-changed.js";

/** The planner stops when this many chunks wait, and is called again when fewer than half of them are left. */
export const PLAN_AHEAD = 64;
/** Chunks per transaction of the planner. */
const PORTION = 16;
/** Bytes per row to begin with where the server has no estimate. */
const UNKNOWN_ROW_BYTES = 200;

/**
 * Plans until enough chunks wait or the table is planned.
 * @param options.portions at most so many steps; default until one of these
 * @returns whether it is planned
 */
export async function planTable(context: EngineContext, ref: MigrationRef, number: number, signal: AbortSignal, options: { portions?: number } = {}): Promise<boolean> {
  const { connections, state } = context;
  /** Halved when a step takes the source too long. */
  let part = 1;
  for (let portion = 0; portion < (options.portions ?? Infinity); portion++) {
    const work = await connections.use(ref.target, "target", signal, async (session) => {
      const migration = await state.migrations.require(session, ref.migration);
      const table = await state.tables.read(session, ref.migration, number);
      const waiting = await state.chunks.countPending(session, ref.migration, number, PLAN_AHEAD);
      const measured = await state.chunks.recent(session, ref.migration, number);
      return { migration, table, waiting, measured };
    });
    const { migration, table } = work;
    if (table === null) return true;
    if (table.planned) return true;
    if (migration.phase !== "copying" || table.phase === "pending" || work.waiting >= PLAN_AHEAD) return false;
    const rows = Math.max(1, Math.floor(chunkRows(migration.spec.options, table, work.measured) * part));
    const cut = await connections.use(migration.spec.source, "source", signal, async (session) => {
      // Step 2a holds for the last key as well: a replica that lags would show too small a one.
      if (table.lastKey === null) await waitUntilVisible(session, table.startPosition, signal);
      return await cutPortion(session, table, rows);
    }).catch(async (error: unknown) => {
      if (isTimeLimit(error) && rows > 1) return null;
      throw await readError(context, migration.spec.source, table, error, signal);
    });
    if (cut === null) {
      part /= 2;
      continue;
    }
    const recorded = await connections.use(ref.target, "target", signal, async (session) => {
      const done = await recordCut(context, session, ref, table, cut);
      // Thousands of tables may be planned before the first chunk is copied.
      await state.migrations.recordProgress(session, ref.migration);
      return done;
    });
    if (recorded && cut.planned) return true;
  }
  return false;
}

/** @returns false when another planner was faster */
async function recordCut({ state }: EngineContext, session: Session, ref: MigrationRef, table: MigrationTable, cut: Cut): Promise<boolean> {
  await session.run("BEGIN" as ByteSql);
  const recorded = await state.tables.recordPlan(session, ref.migration, table, cut);
  if (recorded) await state.chunks.add(session, ref.migration, table.number, await state.chunks.nextNumber(session, ref.migration, table.number), cut.ranges);
  await session.run("COMMIT" as ByteSql);
  return recorded;
}

/** Rows for the next chunks: the smallest of what rows, bytes and time allow. */
function chunkRows(options: MigrationOptions, table: MigrationTable, measured: { rowBytes: number; rowMs: number } | null): number {
  const rowBytes = measured?.rowBytes ?? (table.definition.rowBytesEstimated || UNKNOWN_ROW_BYTES);
  const byBytes = options.chunkBytes / Math.max(1, rowBytes);
  const byTime = measured === null ? Infinity : options.chunkTime / Math.max(0.000_1, measured.rowMs);
  return Math.max(1, Math.floor(Math.min(options.chunkRows, byBytes, byTime)));
}

interface Cut {
  ranges: KeyRange[];
  plannedTo: Buffer | null;
  lastKey: Buffer | null;
  planned: boolean;
}

async function cutPortion(session: Session, table: MigrationTable, rows: number): Promise<Cut> {
  const { definition } = table;
  // Without a key the table is one chunk.
  if (definition.key === null) return { ranges: [{ lower: null, upper: null }], plannedTo: null, lastKey: null, planned: true };
  const lastKey = table.lastKey ?? (await oneKey(session, maxKeyQuery(definition)));
  // An overlaid table is cleared chunk by chunk: its chunks cover every key there may be, without an end.
  if (lastKey === null) return { ranges: table.overlay ? [{ lower: null, upper: null }] : [], plannedTo: null, lastKey, planned: true };
  const ranges: KeyRange[] = [];
  let lower = table.plannedTo;
  while (ranges.length < PORTION) {
    const upper = await oneKey(session, boundaryQuery(definition, { after: lower, upTo: lastKey, rows }));
    if (upper === null || upper.equals(lastKey)) {
      ranges.push({ lower, upper: table.overlay ? null : lastKey });
      return { ranges, plannedTo: lastKey, lastKey, planned: true };
    }
    ranges.push({ lower, upper });
    lower = upper;
  }
  return { ranges, plannedTo: lower, lastKey, planned: false };
}

async function oneKey(session: Session, statement: ByteSql): Promise<Buffer | null> {
  let key: Buffer | null = null;
  await session.readRows(statement, (buffer, start, end) => {
    key = Buffer.from(buffer.subarray(start, end));
  });
  return key;
}
