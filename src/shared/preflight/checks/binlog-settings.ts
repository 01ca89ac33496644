/** The source writes a binlog that can be followed: row by row, whole rows, with names and GTIDs (case 35). */
import type { Check } from "../check.js";
import { failure, type Finding } from "../finding.js";
import { isOn, type ServerFacts } from "../server-facts.js";
import { atLeast, versionName } from "../server-version.js";
import { RECONNECT, configure, setVariable } from "../set-variable.js";

export const binlogSettings: Check = {
  name: "binlog settings",
  run({ source, follows }) {
    if (source === null || !follows) return [];
    return [...written(source), ...rowForm(source), ...(source.version.flavor === "mysql" ? gtids(source) : mariaDbForm(source))];
  },
};

function written(source: ServerFacts): Finding[] {
  const { name, variables } = source;
  const findings: Finding[] = [];
  if (!isOn(variables.get("log_bin"))) findings.push(failure("binlog-off", `${name}: log_bin is OFF, so there is no binlog to follow`, configure(source, ["log_bin = binlog", "server_id = 1 (a number that no other server has)"])));
  else if (variables.get("server_id") === "0") findings.push(failure("server-id", `${name}: server_id is 0, so it refuses to send its binlog`, setVariable(source, "server_id", "1")));
  return findings;
}

function rowForm(source: ServerFacts): Finding[] {
  const { name, variables, version } = source;
  const findings: Finding[] = [];
  const value = (variable: string) => variables.get(variable)?.toUpperCase();
  // A version without the variable knows no other format.
  const format = value("binlog_format");
  if (format !== undefined && format !== "ROW") findings.push(failure("binlog-format", `${name}: binlog_format is ${format}, not ROW: changes would come as statements, without their rows`, setVariable(source, "binlog_format", "ROW") + RECONNECT));
  const image = value("binlog_row_image");
  if (image !== undefined && image !== "FULL") findings.push(failure("binlog-row-image", `${name}: binlog_row_image is ${image}, not FULL: changed rows would come without some of their columns`, setVariable(source, "binlog_row_image", "FULL") + RECONNECT));
  const metadata = value("binlog_row_metadata");
  if (metadata === undefined)
    findings.push(failure("binlog-row-metadata", `${name}: ${versionName(version)} has no binlog_row_metadata: its binlog does not name columns, so it cannot be followed safely`, `upgrade ${name} to MySQL 8.0.1 or MariaDB 10.5 or newer, or use mode "copy" while nothing writes`));
  else if (metadata !== "FULL") findings.push(failure("binlog-row-metadata", `${name}: binlog_row_metadata is ${metadata}, not FULL: the binlog would not name columns`, setVariable(source, "binlog_row_metadata", "FULL")));
  if (/PARTIAL_JSON/i.test(variables.get("binlog_row_value_options") ?? ""))
    findings.push(failure("binlog-row-value-options", `${name}: binlog_row_value_options has PARTIAL_JSON: changed JSON documents would come in parts`, setVariable(source, "binlog_row_value_options", "") + RECONNECT));
  return findings;
}

function gtids(source: ServerFacts): Finding[] {
  const { name, variables } = source;
  const findings: Finding[] = [];
  const consistency = variables.get("enforce_gtid_consistency")?.toUpperCase();
  const mode = variables.get("gtid_mode")?.toUpperCase();
  if (consistency !== undefined && !isOn(consistency))
    findings.push(failure("gtid-consistency", `${name}: enforce_gtid_consistency is ${consistency}, not ON`, `${setVariable(source, "enforce_gtid_consistency", "WARN")} watch its error log for statements that are not allowed, then: ${setVariable(source, "enforce_gtid_consistency", "ON")}`));
  if (mode !== undefined && mode !== "ON") {
    const steps = ["OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON"];
    const due = steps.slice(Math.max(1, steps.indexOf(mode) + 1)).map((step) => setVariable(source, "gtid_mode", step));
    findings.push(failure("gtid-mode", `${name}: gtid_mode is ${mode}, not ON: transactions have no identity to go on from`, `one after the other, on all servers of its replication: ${due.join(" ")}`));
  }
  return findings;
}

function mariaDbForm(source: ServerFacts): Finding[] {
  const { name, variables, version } = source;
  const findings: Finding[] = [];
  if (atLeast(version, 10, 1) && variables.get("mysql56_temporal_format")?.toUpperCase() === "OFF")
    findings.push(failure("temporal-format", `${name}: mysql56_temporal_format is OFF: the binlog does not tell the fractions of times`, `${setVariable(source, "mysql56_temporal_format", "ON")} and rebuild the tables: ALTER TABLE … FORCE`));
  // MariaDB counts a transaction among the executed ones when it is written to the binlog; only behind the replica's answer can a SELECT see it.
  if (isOn(variables.get("rpl_semi_sync_master_enabled")) && variables.get("rpl_semi_sync_master_wait_point")?.toUpperCase() === "AFTER_SYNC")
    findings.push(failure("semi-sync-wait-point", `${name}: rpl_semi_sync_master_wait_point is AFTER_SYNC: its GTID position is ahead of what a SELECT can see while it waits for a replica, so a row that was read could be older than it seems`, setVariable(source, "rpl_semi_sync_master_wait_point", "AFTER_COMMIT")));
  return findings;
}
