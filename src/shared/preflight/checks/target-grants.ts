/** The target's user may create, fill and change the target schemas and the state schema. */
import type { Check } from "../check.js";
import type { PreflightContext } from "../context.js";
import { failure, type Finding } from "../finding.js";
import { STATE_SCHEMA, TARGET_SCHEMA, grantOnSchema } from "../grants.js";
import type { ServerFacts } from "../server-facts.js";

export const targetGrants: Check = {
  name: "grants on the target",
  run(context) {
    const { target } = context;
    if (target === null) return [];
    const schemas = new Set(context.spec.tables.map((selection) => selection.targetSchema));
    return [
      ...[...schemas].flatMap((schema) => schemaFindings(target, schema, wantedOn(context, schema), `the target schema ${schema}`)),
      ...schemaFindings(target, context.stateSchema, STATE_SCHEMA, `the state schema ${context.stateSchema}`),
    ];
  },
};

/** REFERENCES only where a foreign key is created: it is the one privilege that not every migration needs. */
function wantedOn(context: PreflightContext, schema: string): readonly string[] {
  const foreign = context.tables.some((table) => table.target.schema === schema && table.definition?.createStatement.includes("FOREIGN KEY") === true);
  return foreign || context.source === null ? TARGET_SCHEMA : TARGET_SCHEMA.filter((privilege) => privilege !== "REFERENCES");
}

function schemaFindings({ name, account, privileges, variables }: ServerFacts, schema: string, wanted: readonly string[], what: string): Finding[] {
  const missing = privileges.missing(wanted, { schema });
  if (missing.length === 0) return [];
  const overlapping = privileges.overlapping(schema);
  const why = overlapping.length === 0 ? "" : ` (of its grants on ${overlapping.map((p) => `\`${p}\``).join(" and ")} the server uses only one)`;
  return [failure("grant-missing", `${name}: the user ${account} has no ${missing.join(", ")} on ${what}${why}`, `on ${name} run: ${grantOnSchema(missing, schema, account, variables.get("partial_revokes") === "ON")}`)];
}
