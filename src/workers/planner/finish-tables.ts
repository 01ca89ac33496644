/** The end of a table's copy where nothing is left to be built: most tables are small, and a job of its own each would cost more than it does. */
import { executedPosition } from "../../shared/mysql/position.js";
import type { TableProgress } from "../../shared/state/tables.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { countersBehind, readCounters } from "../target/auto-increment.js";
import { isGone } from "./present-table.js";

/**
 * Only looks at both servers and records: whatever may wait for somebody else's lock is left to the table's index job, so that
 * one table does not keep the others waiting.
 * @param tables all their chunks are done, and no index is deferred
 * @returns the numbers of those that are copied now; the others need their index job
 */
export async function finishTables(context: EngineContext, ref: MigrationRef, source: string, tables: readonly TableProgress[], signal: AbortSignal): Promise<Set<number>> {
  const { connections, state } = context;
  if (tables.length === 0) return new Set();
  const seen = await connections.use(source, "source", signal, async (session) => {
    const counters = await readCounters(session, tables);
    // All chunks are done. DDL up to here may have come before some of their reads.
    return { counters, position: await executedPosition(session) };
  }).catch((error: unknown) => {
    if (isGone(error)) return null;
    throw error;
  });
  if (seen === null) return new Set();
  return await connections.use(ref.target, "target", signal, async (session) => {
    const behind = new Set((await countersBehind(session, seen.counters)).map(({ target }) => target));
    const finished = tables.filter((table) => !behind.has(table.target));
    await state.tables.setCopied(session, ref.migration, finished, seen.position);
    return new Set(finished.map((table) => table.number));
  });
}
