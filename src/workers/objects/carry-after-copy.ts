/**
 * What is carried when the rows are there. In mode `copy` nothing of Drover writes after it: then that is everything, events without acting,
 * for the source's go on. Else triggers and events wait for the cut-over, since they would act on what the follow writes.
 */
import type { MigrationSpec } from "../../shared/contracts/spec.js";
import { kindsOf } from "../../shared/objects/plan-objects.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { carryObjects } from "./carry-objects.js";

export async function carryAfterCopy(context: EngineContext, ref: MigrationRef, spec: MigrationSpec, signal: AbortSignal): Promise<void> {
  const isLast = spec.mode === "copy";
  const kinds = kindsOf(isLast ? spec.objects : spec.objects.filter((kind) => kind === "views" || kind === "routines"));
  if (kinds.length === 0) return;
  const notes = await carryObjects(context, ref, {
    spec, kinds, disableEvents: true,
    isDue: async (session) => (await context.state.migrations.require(session, ref.migration)).phase === "copying",
  }, signal);
  await context.connections.use(ref.target, "target", signal, (session) => context.state.migrations.recordProgress(session, ref.migration));
  for (const note of notes) context.log.info({ migration: ref.migration }, note);
}
