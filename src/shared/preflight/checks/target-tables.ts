/** What stands in the target tables' places fits `existingTarget`. */
import { sameShape } from "../../columns/same-shape.js";
import { executedPosition, positionCovers } from "../../mysql/position.js";
import { nameOf } from "../../selection/selected-table.js";
import type { Check } from "../check.js";
import type { PlannedTable, PreflightContext } from "../context.js";
import { failure, warning, type Finding } from "../finding.js";
import type { TargetTable } from "../target-table.js";

export const targetTables: Check = {
  name: "target tables",
  async run(context) {
    const { target } = context;
    // A migration that has begun finds its own tables.
    if (target === null || context.state.started) return [];
    const older = await isOlder(context);
    return context.tables.flatMap((table) => (table.existing === null ? [] : tableFindings(context, target.name, table, table.existing, older)));
  },
};

/** Whether the target's tables are those of an earlier position: DDL that has come since is still to be followed, and the shapes may differ until then. */
async function isOlder({ spec, source, onSource }: PreflightContext): Promise<boolean> {
  if (spec.mode !== "follow" || spec.startPosition === null || source === null) return false;
  const executed = await onSource(executedPosition);
  try {
    return !positionCovers(spec.startPosition, executed);
  } catch {
    // What is no position has a finding of its own.
    return false;
  }
}

const OLDER_CURE = `nothing, when the source was altered so since "startPosition": the statement is followed; otherwise give the target table the shape that the source's had there`;

function tableFindings({ spec }: PreflightContext, server: string, table: PlannedTable, existing: TargetTable, older: boolean): Finding[] {
  const name = nameOf(table.target);
  if (existing.kind === "missing") {
    if (spec.mode !== "follow") return [];
    return [failure("target-missing", `${server}: there is no target table ${name}; mode "follow" goes on with rows that are there`, `copy the table as of "startPosition", or use mode "copy+follow"`)];
  }
  if (existing.kind !== "BASE TABLE") return [failure("target-kind", `${server}: ${name} is a ${existing.kind.toLowerCase()}, not a table`, `drop it, or give the table another "targetTable"`)];
  // `existingTarget` speaks of a copy; a follow alone goes on with the rows of the start position.
  const existingTarget = spec.mode === "follow" ? "resume" : spec.options.existingTarget;
  if (existingTarget === "replace") return [];
  const findings: Finding[] = [];
  if (existingTarget === "fail" && existing.empty === false)
    findings.push(failure("target-not-empty", `${server}: the target table ${name} exists and is not empty`, `empty or drop it, or set existingTarget to "replace" (its rows are dropped) or "resume" (its rows are kept where they equal the source's)`));
  if (existing.unreadable !== null) findings.push(failure("target-shape", `${server}: ${existing.unreadable}`, "drop the target table, or set existingTarget to replace"));
  if (table.definition !== null && existing.definition !== null)
    for (const { code, message, cure } of sameShape(table.definition, existing.definition))
      findings.push(older ? warning(code, `${server}: ${message}`, OLDER_CURE) : failure(code, `${server}: ${message}`, cure));
  if (existing.definition !== null && existing.definition.engine.toUpperCase() !== "INNODB")
    findings.push(failure("target-engine", `${server}: the target table ${name} has the engine ${existing.definition.engine}: its rows could not be written in one transaction with the state`, `ALTER TABLE it to ENGINE=InnoDB, or drop it`));
  if (existing.triggers.length > 0)
    findings.push(failure("target-trigger", `${server}: the target table ${name} has the triggers ${existing.triggers.join(", ")}, which would change rows once more`, "drop them, and create them at cut-over"));
  return findings;
}
