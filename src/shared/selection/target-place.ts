/** Where rows may go: never where they come from, never into the state schema or the server's own. */
import type { TableName } from "../columns/table-definition.js";
import type { MigrationSpec } from "../contracts/spec.js";
import type { Problem } from "../errors.js";
import { nameOf, type SelectedTable } from "./selected-table.js";
import { SelectionMap } from "./selection-map.js";

export interface TargetPlace {
  spec: MigrationSpec;
  stateSchema: string;
  tables: readonly Pick<SelectedTable, "source" | "target">[];
  /** Tables that are followed beside those that the spec selects: renamed since. */
  followed?: readonly TableName[];
  /** Both connections reach the same rows. */
  sameServer: boolean;
  /** The server does not tell names by case. */
  ignoreCase: boolean;
}

const SYSTEM = new Set(["mysql", "sys", "information_schema", "performance_schema"]);

/** Why tables may not go where they would; nothing when they may. */
export function placeProblems({ spec, stateSchema, tables, followed = [], sameServer, ignoreCase }: TargetPlace): Problem[] {
  const problems: Problem[] = [];
  const isState = (schema: string) => schema.toLowerCase() === stateSchema.toLowerCase();
  for (const schema of new Set([...spec.tables.flatMap((selection) => [selection.schema, selection.targetSchema]), ...tables.flatMap(({ source, target }) => [source.schema, target.schema])]))
    if (SYSTEM.has(schema.toLowerCase())) problems.push({ code: "system-schema", message: `the schema ${schema} belongs to the server`, cure: "select application schemas only; users and routines are not moved" });
  for (const schema of new Set([...spec.tables.map((selection) => selection.targetSchema), ...tables.map(({ target }) => target.schema)]))
    if (isState(schema)) problems.push({ code: "target-is-state", message: `the target schema ${schema} is Drover's state schema`, cure: `choose another "targetSchema", or another DROVER_STATE_SCHEMA` });
  if (!sameServer) return problems;
  const selection = new SelectionMap(spec, ignoreCase);
  const sources = [...tables.map(({ source }) => source), ...followed];
  for (const { source, target } of tables) {
    // Also a name that the spec selects and that no table has yet: one would join as soon as it is created as a target.
    if (selection.select(target) !== null || sources.some((other) => selection.sameTable(other, target)))
      problems.push({ code: "target-is-source", message: `${spec.source} and ${spec.target} are the same server, and the target ${nameOf(target)} is a table that is read from`, cure: `give it another "targetSchema" or "targetTable", or correct the connections` });
    if (isState(source.schema)) problems.push({ code: "source-is-state", message: `${spec.source} and ${spec.target} are the same server, and ${nameOf(source)} is in Drover's state schema`, cure: "leave it out" });
  }
  return problems;
}
