/** What is unfinished, over all configured servers: the reconciler's list. */
import { WORKING_PHASES } from "../../shared/state/migrations.js";
import { readStateVersion } from "../../shared/state/schema.js";
import type { EngineContext, MigrationRef } from "../context.js";

export interface UnfinishedWork {
  /** In a working phase, but for those that stream. */
  migrations: MigrationRef[];
  streaming: MigrationRef[];
  /** Diffs that are pending or running, of migrations in whatever phase. */
  diffs: { ref: MigrationRef; diffId: string }[];
  /** Migrations whose cut-over is under way, in whatever phase. */
  cutovers: MigrationRef[];
  /** Connection names, in upper case, of the servers that any of it uses. */
  servers: Set<string>;
}

/**
 * Looks into the state schema of every configured connection; one that does not answer is passed over, its work cannot
 * go on now anyway, and the next turn looks again.
 */
export async function listUnfinished(context: EngineContext, unfinishedDiffs: DiffLister, signal: AbortSignal): Promise<UnfinishedWork> {
  const found = await Promise.all([...context.config.connections.keys()].map((name) => listOn(context, name, unfinishedDiffs, signal)));
  return {
    migrations: found.flatMap((f) => f.migrations),
    streaming: found.flatMap((f) => f.streaming),
    diffs: found.flatMap((f) => f.diffs),
    cutovers: found.flatMap((f) => f.cutovers),
    servers: new Set(found.flatMap((f) => [...f.servers])),
  };
}

export type DiffLister = (context: EngineContext, target: string, signal: AbortSignal) => Promise<{ migration: string; diffId: string }[]>;

async function listOn(context: EngineContext, target: string, unfinishedDiffs: DiffLister, signal: AbortSignal): Promise<UnfinishedWork> {
  const { connections, state, log } = context;
  const nothing = { migrations: [], streaming: [], diffs: [], cutovers: [], servers: new Set<string>() };
  try {
    const listed = await connections.use(target, "target", signal, async (session) =>
      (await readStateVersion(session, state.schema)) === null ? null : await state.migrations.list(session),
    );
    if (listed === null) return nothing;
    // A server may be known under two names: only the one that the spec calls its target counts.
    const own = new Map(listed.filter((migration) => isSame(migration.spec.target, target)).map((migration) => [migration.id, migration]));
    const listedDiffs = await unfinishedDiffs(context, target, signal);
    const listedCutovers = await connections.use(target, "target", signal, (session) => state.cutovers.unfinished(session));
    const refOf = (migration: string): MigrationRef => ({ migration, target });
    const working = [...own.values()].filter((m) => WORKING_PHASES.includes(m.phase));
    const migrations = working.filter((m) => m.phase !== "streaming").map((m) => refOf(m.id));
    const streaming = working.filter((m) => m.phase === "streaming").map((m) => refOf(m.id));
    const diffs = listedDiffs.filter((d) => own.has(d.migration)).map((d) => ({ ref: refOf(d.migration), diffId: d.diffId }));
    const cutovers = listedCutovers.filter((id) => own.has(id)).map(refOf);
    const busy = [...migrations, ...streaming, ...diffs.map((d) => d.ref), ...cutovers].map((ref) => own.get(ref.migration)).filter((m) => m !== undefined);
    return { migrations, streaming, diffs, cutovers, servers: new Set(busy.flatMap(({ spec }) => [spec.source, spec.target].map((name) => name.toUpperCase()))) };
  } catch (error) {
    if (!signal.aborted) log.debug({ target, err: error }, "the state schema cannot be read now");
    return nothing;
  }
}

function isSame(a: string, b: string): boolean {
  return a.toUpperCase() === b.toUpperCase();
}
