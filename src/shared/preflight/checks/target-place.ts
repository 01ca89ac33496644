/** Target, source and state schema do not get in each other's way. */
import { nameOf } from "../../selection/selected-table.js";
import type { Check } from "../check.js";
import { failure, type Finding } from "../finding.js";

const SYSTEM = new Set(["mysql", "sys", "information_schema", "performance_schema"]);

export const targetPlace: Check = {
  name: "target place",
  run({ source, target, tables, spec, stateSchema }) {
    const findings: Finding[] = [];
    for (const schema of new Set(spec.tables.flatMap((selection) => [selection.schema, selection.targetSchema])))
      if (SYSTEM.has(schema.toLowerCase())) findings.push(failure("system-schema", `the schema ${schema} belongs to the server`, "select application schemas only; users and routines are not moved"));
    for (const schema of new Set(spec.tables.map((selection) => selection.targetSchema)))
      if (schema.toLowerCase() === stateSchema.toLowerCase()) findings.push(failure("target-is-state", `the target schema ${schema} is Drover's state schema`, `choose another "targetSchema", or another DROVER_STATE_SCHEMA`));
    if (source === null || target === null || source.identity !== target.identity) return findings;
    const fold = (name: string) => (source.ignoreCase ? name.toLowerCase() : name);
    const sources = new Set(tables.map((table) => fold(nameOf(table.source))));
    for (const table of tables) {
      if (sources.has(fold(nameOf(table.target))))
        findings.push(failure("target-is-source", `${spec.source} and ${spec.target} are the same server, and the target ${nameOf(table.target)} is a table that is read from`, `give it another "targetSchema" or "targetTable", or correct the connections`));
      if (fold(table.source.schema) === fold(stateSchema))
        findings.push(failure("source-is-state", `${spec.source} and ${spec.target} are the same server, and ${nameOf(table.source)} is in Drover's state schema`, "leave it out"));
    }
    return findings;
  },
};
