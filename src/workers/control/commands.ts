/** What people and services ask of a migration: start, pause, resume, stop, remove. Each is idempotent. */
import type { BacklogChain } from "../../shared/backlog/chain.js";
import { parseMigrationSpec } from "../../shared/contracts/spec.js";
import type { Phase } from "../../shared/contracts/status.js";
import { DroverError } from "../../shared/errors.js";
import type { Session } from "../../shared/mysql/session.js";
import { WORKING_PHASES } from "../../shared/state/migrations.js";
import { recordMigration } from "../../shared/state/record-migration.js";
import type { EngineContext, MigrationRef } from "../context.js";

export interface StartedMigration {
  ref: MigrationRef;
  /** Its phase, when it was there already; null for a new one. */
  known: Phase | null;
}

/**
 * Records a migration. The same id with the same spec is the same migration.
 * @throws DroverError SPEC_INVALID, MIGRATION_CONFLICT, STATE_VERSION
 */
export async function startMigration(context: EngineContext, specInput: unknown, signal: AbortSignal): Promise<StartedMigration> {
  const { connections, state } = context;
  const spec = parseMigrationSpec(specInput);
  connections.address(spec.source);
  const known = await connections.use(spec.target, "target", signal, (session) => recordMigration(session, state, specInput, spec));
  return { ref: { migration: spec.id, target: spec.target }, known };
}

/** Keeps everything; work under way is void from here on. */
export async function pauseMigration(context: EngineContext, ref: MigrationRef, signal: AbortSignal): Promise<Phase> {
  return await changePhase(context, ref, WORKING_PHASES, "paused", signal);
}

/** Goes on where a paused or failed migration stood. */
export async function resumeMigration(context: EngineContext, ref: MigrationRef, signal: AbortSignal): Promise<Phase> {
  const { connections, state } = context;
  return await connections.transaction(ref.target, "target", signal, async (session) => {
    const migration = await state.migrations.require(session, ref.migration);
    if (WORKING_PHASES.includes(migration.phase)) return migration.phase;
    await state.cutovers.requireNone(session, ref.migration);
    if (!(await state.migrations.changePhase(session, ref.migration, ["paused", "failed"], migration.resumePhase))) throw wrongPhase(ref, migration.phase, "resumed", "a migration that has ended is not taken up again: `drover remove ID`, then `drover start` it anew");
    await state.fence.bumpEpoch(session, ref.migration);
    await state.migrations.clearError(session, ref.migration);
    await state.chunks.forgetAttempts(session, ref.migration);
    return migration.resumePhase;
  });
}

/** Ends a migration for good; the target keeps its rows. */
export async function stopMigration(context: EngineContext, ref: MigrationRef, chain: BacklogChain, signal: AbortSignal): Promise<Phase> {
  const phase = await changePhase(context, ref, [...WORKING_PHASES, "paused", "failed"], "stopped", signal);
  await chain.clear();
  return phase;
}

/** Deletes a migration's state, never target rows. */
export async function removeMigration(context: EngineContext, ref: MigrationRef, chain: BacklogChain, signal: AbortSignal): Promise<void> {
  const { connections, state } = context;
  await connections.transaction(ref.target, "target", signal, async (session) => {
    const migration = await state.migrations.require(session, ref.migration);
    if (WORKING_PHASES.includes(migration.phase)) throw wrongPhase(ref, migration.phase, "removed while it works", "`drover stop ID` first, or `drover pause ID`");
    await state.cutovers.requireNone(session, ref.migration);
    await state.removeMigration(session, ref.migration);
  });
  await chain.clear();
}

async function changePhase(context: EngineContext, ref: MigrationRef, from: readonly Phase[], to: Phase, signal: AbortSignal): Promise<Phase> {
  const { connections, state } = context;
  return await connections.transaction(ref.target, "target", signal, async (session: Session) => {
    const migration = await state.migrations.require(session, ref.migration);
    if (migration.phase === to) return to;
    await state.cutovers.requireNone(session, ref.migration);
    if (!(await state.migrations.changePhase(session, ref.migration, from, to))) throw wrongPhase(ref, migration.phase, to, migration.phase === "failed" ? "it works no more as it is: `drover resume ID` takes it up again, `drover stop ID` ends it" : "it has ended already: `drover remove ID` forgets it");
    // Whatever is under way finds another epoch in the fence and undoes itself (I3).
    await state.fence.bumpEpoch(session, ref.migration);
    return to;
  });
}

function wrongPhase(ref: MigrationRef, phase: Phase, what: string, cure: string): DroverError {
  return new DroverError("WRONG_PHASE", `migration ${ref.migration} is ${phase}: it cannot be ${what}`, { cure: cure.replaceAll("ID", ref.migration) });
}
