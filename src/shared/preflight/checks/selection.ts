/** The spec's tables exist on the source. */
import type { SelectionProblem } from "../../selection/resolve-tables.js";
import type { Check } from "../check.js";
import type { PreflightContext } from "../context.js";
import { failure, warning, type Finding } from "../finding.js";

export const selection: Check = {
  name: "selection",
  run(context) {
    const { problems, passedOver } = context.selection;
    const findings: Finding[] = problems.filter((problem) => !explainedByGrants(context, problem)).map((problem) => failure(problem.code, problem.message, problem.cure));
    // MariaDB's sequences are among them, and nothing carries those.
    const carried = context.spec.objects.includes("views") && context.source?.version.flavor === "mysql";
    if (passedOver.length > 0 && !carried)
      findings.push(warning("not-a-table", `${context.spec.source}: patterns match ${passedOver.join(", ")}, which ${passedOver.length === 1 ? "is no table and is" : "are no tables and are"} not moved`, 'add "views" to the "objects" of the spec, or create them on the target at cut-over'));
    return findings;
  },
};

/** The server hides what the user has no privilege on: the check of grants names the cause, this would be its echo. */
function explainedByGrants({ source }: PreflightContext, { unseen }: SelectionProblem): boolean {
  return unseen !== undefined && source !== null && !source.privileges.has("SELECT", unseen);
}
