/** The source's user may read the tables and the binlog. */
import { nameOf } from "../../selection/selected-table.js";
import type { Check } from "../check.js";
import type { PreflightContext } from "../context.js";
import { failure, type Finding } from "../finding.js";
import { SOURCE_GLOBAL, SOURCE_TABLE, grantGlobal, grantOnSchema, grantOnTable } from "../grants.js";
import type { ServerFacts } from "../server-facts.js";

export const sourceGrants: Check = {
  name: "grants on the source",
  run(context) {
    if (context.source === null) return [];
    return [...(context.follows ? globalFindings(context.source) : []), ...tableFindings(context, context.source)];
  },
};

function globalFindings({ name, account, privileges }: ServerFacts): Finding[] {
  return privileges.missing(SOURCE_GLOBAL, "global").map((privilege) =>
    failure("grant-missing", `${name}: the user ${account} has no ${privilege}, which ${privilege === "REPLICATION SLAVE" ? "reading the binlog" : "looking at the binlog's state"} needs`, `on ${name} run: ${grantGlobal([privilege], account)}`),
  );
}

/** One finding per schema for patterns, one per table for tables called by name. */
function tableFindings(context: PreflightContext, { name, account, privileges, variables }: ServerFacts): Finding[] {
  const findings = new Map<string, Finding>();
  const literal = variables.get("partial_revokes") === "ON";
  const report = (what: string, cure: string, schema: string) => {
    const overlapping = privileges.overlapping(schema);
    const why = overlapping.length === 0 ? "" : ` (of its grants on ${overlapping.map((p) => `\`${p}\``).join(" and ")} the server uses only one)`;
    findings.set(what, failure("grant-missing", `${name}: the user ${account} has no SELECT on ${what}${why}`, `on ${name} run: ${cure}`));
  };
  for (const selection of context.spec.tables) {
    if (selection.kind === "table") {
      if (privileges.missing(SOURCE_TABLE, selection).length > 0) report(nameOf(selection), grantOnTable(SOURCE_TABLE, selection, account), selection.schema);
    } else if (privileges.missing(SOURCE_TABLE, { schema: selection.schema }).length > 0) {
      // Grants on each of the tables would do as well, but then a pattern sees only those.
      const unreadable = context.tables.filter((table) => table.source.schema === selection.schema && !privileges.has("SELECT", table.source));
      const seen = context.tables.some((table) => table.source.schema === selection.schema);
      if (!seen || unreadable.length > 0) report(`the schema ${selection.schema}`, grantOnSchema(SOURCE_TABLE, selection.schema, account, literal), selection.schema);
    }
  }
  return [...findings.values()];
}
