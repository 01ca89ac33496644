/** Takes a cut-over back: first the source's switches, for somebody waits to write there; then the target; then the migration streams on. May be done twice. */
import { DroverError } from "../../shared/errors.js";
import type { Session } from "../../shared/mysql/session.js";
import type { Cutover, CutoverFacts } from "../../shared/state/cutovers.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { stopDiff } from "../diff/index.js";
import { dropCarried } from "../objects/drop-carried.js";
import { openSource } from "./read-only.js";

export async function undoCutover(context: EngineContext, ref: MigrationRef, cutover: Cutover, signal: AbortSignal): Promise<void> {
  const { connections, state, hooks } = context;
  let { facts } = cutover;
  const record = async (change: Partial<CutoverFacts>) => {
    facts = { ...facts, ...change };
    await connections.use(ref.target, "target", signal, (session) => state.cutovers.setFacts(session, ref.migration, facts));
  };
  await hooks.at("cutover:undo", { migration: ref.migration, step: cutover.step });
  const { spec } = await connections.use(ref.target, "target", signal, (session) => state.migrations.require(session, ref.migration));
  const before = facts.readOnlyBefore;
  if (before !== null && !facts.readOnlyUndone) {
    await connections.use(spec.source, "source", signal, (session) => openSource(session, before));
    await record({ readOnlyUndone: true });
  }
  if (facts.stopped) {
    // Before anything is applied again: triggers would act on it.
    const isDue = async (session: Session) => (await state.cutovers.read(session, ref.migration))?.state === "undoing";
    const notes = await dropCarried(context, ref, { kinds: ["trigger", "event"], isDue }, signal);
    if (notes.length > 0) await record({ notes: [...facts.notes, ...notes] });
    await connections.transaction(ref.target, "target", signal, async (session) => {
      await state.fence.require(session, ref.migration, "update");
      if (await state.migrations.changePhase(session, ref.migration, ["paused"], "streaming")) await state.fence.bumpEpoch(session, ref.migration);
      facts = { ...facts, stopped: false };
      await state.cutovers.setFacts(session, ref.migration, facts);
    });
  }
  if (facts.diffId !== null) await stopDiff(context, ref, facts.diffId, signal).catch(ignoreEnded);
  if (facts.undoError !== null) await record({ undoError: null });
  await connections.use(ref.target, "target", signal, (session) => state.cutovers.changeState(session, ref.migration, "undoing", "failed"));
}

/** The diff has ended by itself, or was deleted. */
function ignoreEnded(error: unknown): void {
  if (!(error instanceof DroverError) || (error.code !== "WRONG_PHASE" && error.code !== "NOT_FOUND")) throw error;
}
