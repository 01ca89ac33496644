/** The target lets us write and create. */
import type { Check } from "../check.js";
import { failure, warning, type Finding } from "../finding.js";
import { nameOf } from "../../selection/selected-table.js";
import { isOn, type ServerFacts } from "../server-facts.js";
import { setVariable } from "../set-variable.js";

export const targetWritable: Check = {
  name: "target settings",
  run({ target, source, tables }) {
    if (target === null) return [];
    const findings = [...readOnly(target)];
    const { name, variables } = target;
    for (const { definition, target: table } of tables) {
      if (definition === null || definition.key?.index === "PRIMARY" || definition.indexes.some((index) => index.name === "PRIMARY")) continue;
      const instead = definition.key === null ? "give the table a primary key on the source" : `make ${definition.key.index} the primary key on the source`;
      if (isOn(variables.get("sql_require_primary_key")))
        findings.push(failure("target-primary-key", `${name}: sql_require_primary_key is ON, and ${nameOf(table)} has no primary key`, `${setVariable(target, "sql_require_primary_key", "OFF")} or ${instead}`));
      else if (isOn(variables.get("sql_generate_invisible_primary_key")))
        findings.push(failure("target-primary-key", `${name}: sql_generate_invisible_primary_key is ON, and would add a column to ${nameOf(table)}, which has no primary key`, `${setVariable(target, "sql_generate_invisible_primary_key", "OFF")} or ${instead}`));
    }
    if (!isOn(variables.get("local_infile")))
      findings.push(warning("local-infile", `${name}: local_infile is OFF: rows are written by INSERT text, which costs the target about a third more`, setVariable(target, "local_infile", "ON")));
    if (source !== null) findings.push(...rowSize(source, target));
    return findings;
  },
};

function readOnly(target: ServerFacts): Finding[] {
  const { name, variables, account, privileges } = target;
  // From MariaDB 12 on the variable has more values than OFF and ON.
  const set = (variable: string) => !["OFF", "0", "NO", ""].includes(variables.get(variable)?.toUpperCase() ?? "OFF");
  if (set("super_read_only")) return [failure("target-read-only", `${name}: super_read_only is ON, nobody can write`, `${setVariable(target, "super_read_only", "OFF")} ${setVariable(target, "read_only", "OFF")}`)];
  if (set("innodb_read_only")) return [failure("target-read-only", `${name}: innodb_read_only is ON, nobody can write`, `remove innodb_read_only from the configuration of ${name}, and restart it`)];
  const exempt = ["SUPER", "CONNECTION_ADMIN", "READ_ONLY ADMIN", "READ ONLY ADMIN"].some((privilege) => privileges.has(privilege, "global"));
  if (set("read_only") && !exempt) return [failure("target-read-only", `${name}: read_only is ${variables.get("read_only")}, the user ${account} cannot write`, setVariable(target, "read_only", "OFF"))];
  const transactions = variables.has("transaction_read_only") ? "transaction_read_only" : "tx_read_only";
  if (set(transactions)) return [failure("target-read-only", `${name}: ${transactions} is ON, new sessions cannot write`, setVariable(target, transactions, "OFF"))];
  return [];
}

/** Settings under which a table that the source took may be refused by the target; its creation then fails with a clear error. */
function rowSize(source: ServerFacts, target: ServerFacts): Finding[] {
  const findings: Finding[] = [];
  const pages = [source, target].map((server) => Number(server.variables.get("innodb_page_size") ?? 16384));
  if ((pages[1] as number) < (pages[0] as number))
    findings.push(warning("target-row-size", `${target.name}: innodb_page_size is ${pages[1]}, on ${source.name} ${pages[0]}: wide rows and long indexes may not fit`, "should the creation of a table fail, set up the target with the source's page size"));
  if (isOn(target.variables.get("innodb_strict_mode")) && source.variables.get("innodb_strict_mode")?.toUpperCase() === "OFF")
    findings.push(warning("target-row-size", `${target.name}: innodb_strict_mode is ON, on ${source.name} OFF: tables with too wide rows or odd row formats may be refused`, "should the creation of a table fail, correct its row format on the source, or create the target table by hand"));
  const format = target.variables.get("innodb_default_row_format")?.toUpperCase();
  if (format !== undefined && format !== "DYNAMIC" && source.variables.get("innodb_default_row_format")?.toUpperCase() === "DYNAMIC")
    findings.push(warning("target-row-size", `${target.name}: innodb_default_row_format is ${format}, on ${source.name} DYNAMIC: indexes on long text may not fit`, setVariable(target, "innodb_default_row_format", "DYNAMIC")));
  return findings;
}
