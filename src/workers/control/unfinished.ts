/** What is unfinished, over all configured servers: the reconciler's list. */
import { WORKING_PHASES, type Migration } from "../../shared/state/migrations.js";
import { readStateVersion } from "../../shared/state/schema.js";
import type { EngineContext, MigrationRef } from "../context.js";

export interface UnfinishedWork {
  migrations: { ref: MigrationRef; migration: Migration }[];
  /** Diffs that are pending or running, of migrations in whatever phase. */
  diffs: { ref: MigrationRef; diffId: string }[];
  /** Migrations whose cut-over is under way, in whatever phase. */
  cutovers: MigrationRef[];
}

/**
 * Looks into the state schema of every configured connection; one that does not answer is passed over, its work cannot
 * go on now anyway, and the next turn looks again.
 */
export async function listUnfinished(context: EngineContext, unfinishedDiffs: DiffLister, signal: AbortSignal): Promise<UnfinishedWork> {
  const found = await Promise.all([...context.config.connections.keys()].map((name) => listOn(context, name, unfinishedDiffs, signal)));
  return { migrations: found.flatMap((f) => f.migrations), diffs: found.flatMap((f) => f.diffs), cutovers: found.flatMap((f) => f.cutovers) };
}

export type DiffLister = (context: EngineContext, target: string, signal: AbortSignal) => Promise<{ migration: string; diffId: string }[]>;

async function listOn(context: EngineContext, target: string, unfinishedDiffs: DiffLister, signal: AbortSignal): Promise<UnfinishedWork> {
  const { connections, state, log } = context;
  try {
    const migrations = await connections.use(target, "target", signal, async (session) =>
      (await readStateVersion(session, state.schema)) === null ? null : await state.migrations.list(session),
    );
    if (migrations === null) return { migrations: [], diffs: [], cutovers: [] };
    // A server may be known under two names: only the one that the spec calls its target counts.
    const own = migrations.filter((migration) => migration.spec.target.toUpperCase() === target.toUpperCase());
    const names = new Set(own.map((migration) => migration.id));
    const diffs = await unfinishedDiffs(context, target, signal);
    const cutovers = await connections.use(target, "target", signal, (session) => state.cutovers.unfinished(session));
    return {
      migrations: own.filter((m) => WORKING_PHASES.includes(m.phase)).map((migration) => ({ ref: { migration: migration.id, target }, migration })),
      diffs: diffs.filter((d) => names.has(d.migration)).map((d) => ({ ref: { migration: d.migration, target }, diffId: d.diffId })),
      cutovers: cutovers.filter((id) => names.has(id)).map((migration) => ({ migration, target })),
    };
  } catch (error) {
    if (!signal.aborted) log.debug({ target, err: error }, "the state schema cannot be read now");
    return { migrations: [], diffs: [], cutovers: [] };
  }
}
