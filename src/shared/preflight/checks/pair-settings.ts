/** Settings of the two servers that must go together: packet sizes, clocks, the case of names. */
import type { Check } from "../check.js";
import type { PreflightContext } from "../context.js";
import { failure, warning, type Finding } from "../finding.js";
import type { ServerFacts } from "../server-facts.js";
import { nameOf } from "../../selection/selected-table.js";
import { setVariable } from "../set-variable.js";

/** Largest difference between two clocks in milliseconds: lag and ages are measured across them. */
const CLOCK_TOLERANCE = 5_000;

export const pairSettings: Check = {
  name: "settings of both servers",
  run(context) {
    const { source, target } = context;
    const findings: Finding[] = [];
    for (const server of [source, target]) if (server !== null) findings.push(...clock(server));
    if (target !== null) findings.push(...foldedNames(context, target));
    if (source === null || target === null) return findings;
    findings.push(...clockPair(source, target), ...packets(source, target));
    if (source.ignoreCase !== target.ignoreCase)
      findings.push(warning("name-case", `lower_case_table_names is ${source.variables.get("lower_case_table_names")} on ${source.name} and ${target.variables.get("lower_case_table_names")} on ${target.name}: names that the application writes in another case work on one of them only`, "see that the application writes every name as it was created"));
    return findings;
  },
};

function clock(server: ServerFacts): Finding[] {
  if (Math.abs(server.clockOffset) <= CLOCK_TOLERANCE) return [];
  return [warning("clock", `${server.name}: its clock and this machine's differ by ${seconds(server.clockOffset)} s: lag and ages will be shown wrong`, "synchronise the clocks (NTP)")];
}

function clockPair(source: ServerFacts, target: ServerFacts): Finding[] {
  const difference = source.clockOffset - target.clockOffset;
  // One of them alone against ours was said before.
  const said = [source, target].some((server) => Math.abs(server.clockOffset) > CLOCK_TOLERANCE);
  if (said || Math.abs(difference) <= CLOCK_TOLERANCE) return [];
  return [warning("clock", `the clocks of ${source.name} and ${target.name} differ by ${seconds(difference)} s: lag will be shown wrong`, "synchronise the clocks (NTP)")];
}

function seconds(milliseconds: number): string {
  return (Math.abs(milliseconds) / 1000).toFixed(1);
}

/** Whether a value of the source is really that long would cost a full scan: only the limits are compared (case 32). */
function packets(source: ServerFacts, target: ServerFacts): Finding[] {
  const sizes = [source, target].map((server) => Number(server.variables.get("max_allowed_packet") ?? 0));
  if ((sizes[1] as number) >= (sizes[0] as number)) return [];
  return [warning("packet-size", `${target.name}: max_allowed_packet is ${sizes[1]}, on ${source.name} ${sizes[0]}: a row that is longer than the target's limit stops the migration`, setVariable(target, "max_allowed_packet", String(sizes[0])))];
}

/** A target that writes names in lower case would give a table another name than the spec says, or two tables one. */
function foldedNames({ tables }: PreflightContext, target: ServerFacts): Finding[] {
  if (target.variables.get("lower_case_table_names") !== "1") return [];
  return tables
    .filter((table) => nameOf(table.target) !== nameOf(table.target).toLowerCase())
    .map((table) => failure("name-case", `${target.name}: lower_case_table_names is 1, so ${nameOf(table.target)} would be called ${nameOf(table.target).toLowerCase()}`, `give ${nameOf(table.source)} a "targetSchema" and "targetTable" in lower case`));
}
