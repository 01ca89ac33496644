/** Whether the source can be made read-only, or else that somebody must see to its writers. */
import { failure, warning, type Finding } from "../../shared/preflight/finding.js";
import type { CheckScope } from "./check-scope.js";
import { isClosed, readSwitches } from "./read-only.js";

export async function readOnlyFindings({ context, migration, options, preflight, signal }: CheckScope): Promise<Finding[]> {
  const { source } = preflight;
  if (source === null) return [];
  const { name, account, privileges, version } = source;
  const switches = await context.connections.use(migration.spec.source, "source", signal, readSwitches);
  const findings: Finding[] = [];
  if (!options.readOnly) {
    if (!switches.readOnly) findings.push(warning("source-writable", `${name} takes writes: what is committed there after the end is lost to ${migration.spec.target}`, "stop its writers first, or let Drover do it with --read-only"));
    return findings;
  }
  if (isClosed(switches)) return [];
  const mariadb = version.flavor === "mariadb";
  if (!["SUPER", mariadb ? "READ_ONLY ADMIN" : "SYSTEM_VARIABLES_ADMIN"].some((privilege) => privileges.has(privilege, "global"))) {
    const privilege = mariadb ? "READ_ONLY ADMIN" : version.major < 8 ? "SUPER" : "SYSTEM_VARIABLES_ADMIN";
    findings.push(failure("grant-missing", `${name}: the user ${account} has no ${privilege}, which --read-only needs`, `on ${name} run: GRANT ${privilege} ON *.* TO ${account}; or stop the writers yourself`));
  }
  if (switches.superReadOnly === null) findings.push(warning("read-only-administrators", `${name} has no super_read_only: accounts with ${mariadb ? "READ ONLY ADMIN" : "SUPER"} can write there still`, "see that none of them does"));
  return findings;
}
