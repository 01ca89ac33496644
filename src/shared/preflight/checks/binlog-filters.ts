/** Nothing keeps changes of our schemas out of the source's binlog. */
import { isOn, type ServerFacts } from "../server-facts.js";
import type { ByteSql } from "../../mysql/bytes.js";
import type { Session } from "../../mysql/session.js";
import { DroverError } from "../../errors.js";
import type { Check } from "../check.js";
import type { PreflightContext } from "../context.js";
import { failure, warning, type Finding } from "../finding.js";
import { atLeast } from "../server-version.js";
import { configure } from "../set-variable.js";

export const binlogFilters: Check = {
  name: "binlog filters",
  async run(context) {
    const { source, follows } = context;
    if (source === null || !follows || !isOn(source.variables.get("log_bin"))) return [];
    // Without the privilege nothing can be read, and the check of grants says so.
    if (!source.privileges.has("REPLICATION CLIENT", "global")) return [];
    return [...(await filterFindings(context, source)), ...(await replicaFindings(context, source))];
  },
};

async function filterFindings(context: PreflightContext, source: ServerFacts): Promise<Finding[]> {
  const [status] = await context.onSource((session) => session.rows(statusStatement(source)));
  const names = (column: string) => (status?.[column] ?? "").split(",").filter((name) => name !== "");
  const doDb = names("Binlog_Do_DB");
  const ignoreDb = names("Binlog_Ignore_DB");
  const fold = (name: string) => (source.ignoreCase ? name.toLowerCase() : name);
  const has = (list: string[], schema: string) => list.some((name) => fold(name) === fold(schema));
  const schemas = [...new Set(context.spec.tables.map((selection) => selection.schema))];
  return schemas.flatMap((schema) => {
    if (doDb.length > 0 && !has(doDb, schema))
      return [failure("binlog-filter", `${source.name}: binlog_do_db names ${doDb.join(", ")} only, so changes of ${schema} are not in the binlog`, configure(source, [`binlog_do_db = ${schema} (beside the others), or no binlog_do_db at all`]))];
    if (has(ignoreDb, schema)) return [failure("binlog-filter", `${source.name}: binlog_ignore_db names ${schema}, so its changes are not in the binlog`, `remove "binlog_ignore_db = ${schema}" from the configuration of ${source.name}, and restart it`)];
    return [];
  });
}

function statusStatement({ version }: ServerFacts): ByteSql {
  // 8.2 brought the new name, 8.4 took the old one away.
  return (version.flavor === "mysql" && atLeast(version, 8, 2) ? "SHOW BINARY LOG STATUS" : "SHOW MASTER STATUS") as ByteSql;
}

/** A replica with log_replica_updates=OFF does not log what it gets from its own source. */
async function replicaFindings(context: PreflightContext, source: ServerFacts): Promise<Finding[]> {
  const { variables, name } = source;
  const variable = variables.has("log_replica_updates") ? "log_replica_updates" : "log_slave_updates";
  if (isOn(variables.get(variable))) return [];
  const sources = await context.onSource((session) => replicaStatus(session, source));
  if (sources === 0) return [];
  if (sources === null)
    return [warning("binlog-replica", `${name}: ${variable} is OFF; should it be a replica, what it replicates would not be in its binlog (the user may not see whether it is one)`, `use the server that the application writes to as the source, or ${configure(source, [`${variable} = ON`])}`)];
  return [failure("binlog-replica", `${name} is a replica and ${variable} is OFF, so what it replicates is not in its binlog`, `use the server that it replicates from as the source, or ${configure(source, [`${variable} = ON`])}`)];
}

async function replicaStatus(session: Session, { version }: ServerFacts): Promise<number | null> {
  const renamed = version.flavor === "mysql" ? atLeast(version, 8, 0, 22) : true;
  const statement = (version.flavor === "mariadb" ? "SHOW ALL SLAVES STATUS" : renamed ? "SHOW REPLICA STATUS" : "SHOW SLAVE STATUS") as ByteSql;
  try {
    return (await session.rows(statement)).length;
  } catch (error) {
    // MariaDB wants a privilege of its own for it (REPLICA MONITOR).
    if (error instanceof DroverError && error.errno === 1227) return null;
    throw error;
  }
}
