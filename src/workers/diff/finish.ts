/** The end of a diff: all tables are cut and no chunk is pending. */
import { DroverError } from "../../shared/errors.js";
import type { DiffState } from "../../shared/state/diff-state.js";
import type { EngineContext, MigrationRef } from "../context.js";

/** Ends a running diff that has nothing left to do: `completed`, or `failed` when something in it failed. Returns whether it did. */
export async function finishDiff(context: EngineContext, state: DiffState, ref: MigrationRef, diffId: string, signal: AbortSignal): Promise<boolean> {
  return await context.connections.transaction(ref.target, "target", signal, async (session) => {
    const { migration } = ref;
    // A table that is to be cut anew is seen here, or finds the diff ended.
    await state.diffs.lock(session, migration, diffId);
    if ((await state.chunks.pending(session, migration, diffId, 1)).length > 0) return false;
    const tables = await state.tables.list(session, migration, diffId);
    // Looked at after the chunks: a table that is cut to its end gets no further ones.
    if (tables.some((table) => !table.planned) || (await state.chunks.pending(session, migration, diffId, 1)).length > 0) return false;
    const failed = await state.chunks.firstFailed(session, migration, diffId);
    if (failed !== null) {
      const error = new DroverError("POISON", `chunk ${failed.number} of table ${failed.table} failed ${failed.attempts} times: ${failed.error.message}`, {
        errno: failed.error.errno ?? undefined,
        sqlState: failed.error.sqlState ?? undefined,
        cure: "`drover diff resume` tries what failed again",
      });
      await state.diffs.end(session, migration, diffId, "failed", error);
      return true;
    }
    return await state.diffs.changeState(session, migration, diffId, ["running"], "completed");
  });
}
