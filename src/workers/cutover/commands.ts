/** What people ask of a cut-over: to begin, only to look, to take it back. */
import type { CutoverOptions, CutoverReport } from "../../shared/contracts/cutover.js";
import { DroverError } from "../../shared/errors.js";
import { blocking } from "../../shared/preflight/index.js";
import { checkedReport, cutoverReportOf } from "../../shared/state/cutover-report.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { checkCutover } from "./checks.js";

/**
 * Looks, and begins unless `dryRun`. One that is under way or done is told of, not begun anew.
 * @throws DroverError NOT_FOUND; PREFLIGHT_FAILED with all problems when something stands in the way and this is no dry run
 */
export async function requestCutover(context: EngineContext, ref: MigrationRef, options: CutoverOptions, dryRun: boolean, signal: AbortSignal): Promise<CutoverReport> {
  const { connections, state } = context;
  const read = () => connections.use(ref.target, "target", signal, async (session) => ({
    migration: await state.migrations.require(session, ref.migration), tables: await state.tables.list(session, ref.migration),
    cutover: await state.cutovers.read(session, ref.migration),
  }));
  const subject = await read();
  const { spec } = subject.migration;
  if (subject.cutover !== null && subject.cutover.state !== "failed") return cutoverReportOf(spec, subject.cutover);
  const findings = await checkCutover(context, ref, subject, options, signal);
  if (dryRun) return checkedReport(spec, options, findings);
  if (blocking(findings).length > 0) throw new DroverError("PREFLIGHT_FAILED", `migration ${ref.migration} cannot be cut over`, { problems: blocking(findings) });
  await connections.transaction(ref.target, "target", signal, (session) => state.cutovers.begin(session, ref.migration, options, findings));
  const begun = (await read()).cutover;
  if (begun === null) throw new DroverError("NOT_FOUND", `migration ${ref.migration} was removed`);
  return cutoverReportOf(spec, begun);
}

/** @throws DroverError NOT_FOUND, WRONG_PHASE when there is nothing that could be taken back */
export async function abortCutover(context: EngineContext, ref: MigrationRef, signal: AbortSignal): Promise<void> {
  const { connections, state } = context;
  await connections.use(ref.target, "target", signal, async (session) => {
    if (await state.cutovers.giveUp(session, ref.migration, new DroverError("ABORTED", "it was taken back by command"))) return;
    const cutover = await state.cutovers.read(session, ref.migration);
    if (cutover === null) throw new DroverError("NOT_FOUND", `migration ${ref.migration} is not being cut over`);
    if (cutover.state === "running" || cutover.state === "completed") throw new DroverError("WRONG_PHASE", `the cut-over of migration ${ref.migration} is past the point of no return`, { cure: "with --reverse the source follows the target: cut that migration over to go back" });
  });
}
