/** Both users may do what carrying views, routines, triggers and events needs. Without a privilege a server hides objects rather than refusing them. */
import { kindsOf, mappedSchemas } from "../../objects/plan-objects.js";
import type { Check } from "../check.js";
import type { PreflightContext } from "../context.js";
import { failure, type Finding } from "../finding.js";
import { OBJECT_GRANTS, grantGlobal, grantOnSchema } from "../grants.js";
import type { ServerFacts } from "../server-facts.js";
import { atLeast } from "../server-version.js";
import { isOn } from "../server-facts.js";
import { setVariable } from "../set-variable.js";

export const objectGrants: Check = {
  name: "grants for objects",
  run(context) {
    const { spec, source, target } = context;
    if (spec.objects.length === 0) return [];
    const findings: Finding[] = [];
    const schemas = mappedSchemas({ spec, tables: context.tables });
    const wanted = (side: "source" | "target") => [...new Set(spec.objects.flatMap((kind) => OBJECT_GRANTS[kind][side]))];
    if (source !== null) {
      for (const schema of schemas.keys()) findings.push(...missingOn(source, schema, wanted("source")));
      findings.push(...routineDefinitions(context, source));
    }
    if (target !== null) {
      for (const schema of new Set(schemas.values())) findings.push(...missingOn(target, schema, wanted("target")));
      findings.push(...definerGrants(context, target), ...binlogTrust(context, target));
    }
    return findings;
  },
};

function missingOn({ name, account, privileges, variables }: ServerFacts, schema: string, wanted: readonly string[]): Finding[] {
  const missing = privileges.missing(wanted, { schema });
  if (missing.length === 0) return [];
  return [failure("grant-missing", `${name}: the user ${account} has no ${missing.join(", ")} on the schema ${schema}, which carrying its objects needs`, `on ${name} run: ${grantOnSchema(missing, schema, account, isOn(variables.get("partial_revokes")))}`)];
}

function routineDefinitions({ spec }: PreflightContext, { name, account, privileges, version }: ServerFacts): Finding[] {
  if (!spec.objects.includes("routines") || privileges.has("SELECT", "global")) return [];
  const shows = version.flavor === "mysql" && atLeast(version, 8, 0, 20);
  if (shows && privileges.has("SHOW_ROUTINE", "global")) return [];
  const privilege = shows ? "SHOW_ROUTINE" : version.flavor === "mariadb" && atLeast(version, 11, 3) ? "SHOW CREATE ROUTINE" : "SELECT";
  if (privilege === "SHOW CREATE ROUTINE" && privileges.has(privilege, "global")) return [];
  return [failure("grant-missing", `${name}: the user ${account} has no ${privilege}, without which it sees only its own routines`, `on ${name} run: ${grantGlobal([privilege], account)}`)];
}

/** Creating an object that runs as somebody else. */
function definerGrants({ spec }: PreflightContext, { name, account, privileges, version }: ServerFacts): Finding[] {
  if (spec.options.definer === "current" || privileges.has("SUPER", "global")) return [];
  const privilege = version.flavor === "mariadb" ? "SET USER" : atLeast(version, 8, 2) ? "SET_ANY_DEFINER" : atLeast(version, 8) ? "SET_USER_ID" : "SUPER";
  if (privileges.has(privilege, "global")) return [];
  return [failure("grant-missing", `${name}: the user ${account} has no ${privilege}, which objects of another definer need`, `on ${name} run: ${grantGlobal([privilege], account)} or set options.definer to "current"`)];
}

/** With a binlog, servers want to be told that functions and triggers are trusted (errors 1418 and 1419). */
function binlogTrust({ spec }: PreflightContext, target: ServerFacts): Finding[] {
  const kinds = kindsOf(spec.objects);
  if (!kinds.includes("function") && !kinds.includes("trigger")) return [];
  const { name, account, privileges, variables } = target;
  if (!isOn(variables.get("log_bin")) || isOn(variables.get("log_bin_trust_function_creators")) || privileges.has("SUPER", "global")) return [];
  return [failure("trust-function-creators", `${name}: log_bin_trust_function_creators is OFF, and the user ${account} has no SUPER: it may not create functions and triggers`, setVariable(target, "log_bin_trust_function_creators", "ON"))];
}
