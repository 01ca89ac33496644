/** The source keeps its binlog long enough that a pause of ours, or a restart, finds it there. */
import type { Check } from "../check.js";
import { failure } from "../finding.js";
import type { ServerFacts } from "../server-facts.js";
import { setVariable } from "../set-variable.js";

/**
 * Shortest retention in seconds. The copy itself does not need it (the backlog is applied in between); a worker's restart or a
 * person who must first look at a failure does.
 */
const SHORTEST = 3_600;

export const binlogRetention: Check = {
  name: "binlog retention",
  run({ source, follows }) {
    if (source === null || !follows) return [];
    const kept = retention(source);
    if (kept === null || kept.seconds >= SHORTEST) return [];
    return [
      failure("binlog-retention", `${source.name}: ${kept.variable} keeps the binlog for ${kept.seconds} s only; a migration that stands still for longer could not go on`,
        setVariable(source, kept.variable, kept.variable === "expire_logs_days" ? "2" : "172800")),
    ];
  },
};

/** Null: for ever. The variable in seconds wins where it is set. */
function retention({ variables }: ServerFacts): { variable: string; seconds: number } | null {
  if (variables.get("binlog_expire_logs_auto_purge")?.toUpperCase() === "OFF") return null;
  for (const [variable, unit] of [["binlog_expire_logs_seconds", 1], ["expire_logs_days", 86_400]] as const) {
    const value = Number(variables.get(variable) ?? 0);
    if (value > 0) return { variable, seconds: Math.round(value * unit) };
  }
  return null;
}
