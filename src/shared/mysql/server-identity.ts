/** What tells whether two connections reach the same rows: the names of connections and their hosts do not. */
import type { ByteSql } from "./bytes.js";
import type { Session } from "./session.js";

/** The server itself, and the cluster whose members share all rows. Two connections that have one in common are not source and target of one table. */
export type ServerIdentity = readonly string[];

const OWN = ["server_uuid", "server_uid", "hostname", "port", "datadir"];

export async function readServerIdentity(session: Session): Promise<ServerIdentity> {
  const wanted = [...OWN, "group_replication_group_name"].map((name) => `'${name}'`).join(",");
  const variables = valuesOf(await session.rows(`SHOW GLOBAL VARIABLES WHERE Variable_name IN (${wanted})` as ByteSql));
  const status = valuesOf(await session.rows("SHOW GLOBAL STATUS LIKE 'wsrep\\_cluster\\_state\\_uuid'" as ByteSql));
  const clusters = [variables.get("group_replication_group_name"), status.get("wsrep_cluster_state_uuid")];
  // Galera has zeros where there is no cluster.
  return [JSON.stringify(OWN.map((name) => variables.get(name) ?? null)), ...clusters.filter((id) => id !== undefined && /[1-9a-f]/i.test(id)).map((id) => `cluster ${id}`)];
}

export function sameServer(a: ServerIdentity, b: ServerIdentity): boolean {
  return a.some((id) => b.includes(id));
}

function valuesOf(rows: readonly Record<string, string | null>[]): Map<string, string> {
  return new Map(rows.map((row) => [(row["Variable_name"] ?? "").toLowerCase(), row["Value"] ?? ""]));
}
