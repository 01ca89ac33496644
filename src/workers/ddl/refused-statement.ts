/** A statement of the source that was not executed on the target, because the target's server refused it or it was never sent. */
import { DroverError } from "../../shared/errors.js";
import { UnreadableStatement } from "../../shared/sql/unreadable-statement.js";
import type { TargetPlan } from "./target-plan.js";

/**
 * Whether an error tells for certain that the statement did not happen; after a lost connection, or our own end, nobody knows.
 * A server that broke off in the middle rolls back; but where shapes could not show that it had not (`ambiguous`), that is not relied on.
 */
export function didNotHappen(error: unknown, plan: Pick<TargetPlan, "ambiguous">): boolean {
  if (error instanceof UnreadableStatement) return true;
  if (!(error instanceof DroverError) || error.code === "CONNECTION_LOST") return false;
  return error.kind === "fatal" || error.kind === "config" || (error.kind === "retryable" && !plan.ambiguous);
}

/** Says which statement the target did not take; never its text, which may hold values. */
export function refusal(error: unknown, kind: string, plan: TargetPlan, gtid: string): unknown {
  if (!(error instanceof DroverError) || error.code !== "STATEMENT_REFUSED") return error;
  const names = [...new Set([...plan.touched, ...plan.removed.map((table) => table.target), ...(plan.run?.kind === "truncate" ? [plan.run.target] : [])].map((name) => `${name.schema}.${name.table}`))];
  return new DroverError("STATEMENT_REFUSED", `the target refuses the ${kind.toUpperCase()} of transaction ${gtid}${names.length === 0 ? "" : ` on ${names.join(", ")}`}: ${error.message}`, {
    errno: error.errno, sqlState: error.sqlState, cause: error,
    cure: "make the target's table as the source's was before this statement, then resume; or start the migration anew",
  });
}
