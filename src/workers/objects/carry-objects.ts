/**
 * Creates the source's views, routines, triggers and events on the target. May be run again after any crash: each object is
 * recorded before it is created, one that was recorded is dropped and created anew, and one that is there unchanged is left alone.
 *
 * Everything runs under the DDL lock, on the session that holds it: see `target/ddl-lock.ts` for why a zombie can do no harm.
 */
import { DroverError } from "../../shared/errors.js";
import { planObjects, type ObjectPlan } from "../../shared/objects/plan-objects.js";
import { ignoresCase } from "../../shared/selection/source-tables.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { withDdlLock } from "../target/ddl-lock.js";
import type { CarryOptions } from "./carry-options.js";
import { ObjectCarrier } from "./object-carrier.js";

/** @returns what there is to say of it: events whose time is over */
export async function carryObjects(context: EngineContext, ref: MigrationRef, options: CarryOptions, signal: AbortSignal): Promise<string[]> {
  if (options.kinds.length === 0) return [];
  const plan = await readPlan(context, ref, options, signal);
  if (plan.problems.length > 0) throw new DroverError("PREFLIGHT_FAILED", plan.problems.map((problem) => problem.message).join("; "), { problems: plan.problems });
  return await withDdlLock(context, ref, signal, async (session) => {
    if (!(await options.isDue(session))) return [];
    return await new ObjectCarrier({ context, ref, carry: options, session, signal }).run(plan.objects);
  });
}

async function readPlan(context: EngineContext, ref: MigrationRef, { spec, kinds }: CarryOptions, signal: AbortSignal): Promise<ObjectPlan> {
  const { connections, state } = context;
  const tables = await connections.use(ref.target, "target", signal, (session) => state.tables.list(session, ref.migration));
  return await connections.use(spec.source, "source", signal, async (session) => {
    const plan = await planObjects(session, { spec, tables, kinds, ignoreCase: await ignoresCase(session) });
    session.destroy();
    return plan;
  });
}
