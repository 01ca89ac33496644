/** MySQL's own replication: GTID auto position, four appliers that commit in the source's order (the server's default). */
import type { MysqlServer } from "../../scripts/servers/index.js";
import { ask, executedSet } from "../connection.js";

const APPLIERS = 4;

/** Makes `replica`, which holds the source's rows as of now, a replica that does not run yet. */
export async function prepareReplica(source: MysqlServer, replica: MysqlServer): Promise<void> {
  const position = await executedSet(source);
  await ask(replica, `RESET BINARY LOGS AND GTIDS; SET GLOBAL gtid_purged='${position}';
    CHANGE REPLICATION SOURCE TO SOURCE_HOST='${source.host}', SOURCE_PORT=${source.port}, SOURCE_USER='${source.user}', SOURCE_PASSWORD='${source.password}',
      SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1;
    SET GLOBAL replica_parallel_workers=${APPLIERS}`);
}

/** Starts it and waits until it has executed everything in `position`. */
export async function replicate(replica: MysqlServer, position: string): Promise<void> {
  await ask(replica, "START REPLICA");
  for (;;) {
    const [row] = await ask(replica, `SELECT WAIT_FOR_EXECUTED_GTID_SET('${position}', 5) AS late`);
    if (Number(row?.["late"]) === 0) break;
    const [status] = await ask(replica, "SHOW REPLICA STATUS");
    const error = String(status?.["Last_IO_Error"] || status?.["Last_SQL_Error"] || "");
    if (error !== "") throw new Error(`replication: ${error}`);
  }
}

export async function stopReplica(replica: MysqlServer): Promise<void> {
  await ask(replica, "STOP REPLICA");
}
