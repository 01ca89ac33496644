/**
 * Ends the sessions of dead workers (design §5). A session belongs to a worker by the attributes it sent when it
 * connected, which the server keeps: nothing has to be recorded anywhere, and a connection id that was given to somebody
 * else meanwhile can never be meant. The servers' own time limits would end these sessions a little later.
 */
import type { ByteSql } from "../../shared/mysql/bytes.js";
import { killSession } from "../../shared/mysql/kill-session.js";
import type { EngineContext } from "../context.js";

/** Session ids of workers of this deployment on one server, with the worker they belong to. Needs no privilege: they are of our own account. */
const OUR_SESSIONS = `SELECT w.PROCESSLIST_ID AS id, w.ATTR_VALUE AS worker
  FROM performance_schema.session_account_connect_attrs AS w
  JOIN performance_schema.session_account_connect_attrs AS d ON d.PROCESSLIST_ID=w.PROCESSLIST_ID AND d.ATTR_NAME='drover_deployment'
  WHERE w.ATTR_NAME='drover_worker' AND w.PROCESSLIST_ID<>CONNECTION_ID() AND d.ATTR_VALUE='%'`;

/** Says of each of these workers whether it is dead. */
export type DeathCheck = (workers: string[]) => Promise<(worker: string) => boolean>;

/** @returns how many sessions were ended */
export async function killOrphans(context: EngineContext, server: string, check: DeathCheck, signal: AbortSignal): Promise<number> {
  const { connections, log } = context;
  const statement = OUR_SESSIONS.replace("%", connections.deployment) as ByteSql;
  const sessions = await connections.use(server, "target", signal, (session) => session.rows(statement));
  // Commands and programs that only look on connect too; they are nobody's orphans.
  const workers = sessions.filter((s) => s["worker"]?.startsWith("w-"));
  const isDead = await check(workers.map((s) => s["worker"] ?? ""));
  let killed = 0;
  for (const { id, worker } of workers) {
    if (worker == null || !isDead(worker)) continue;
    if (!(await connections.use(server, "target", signal, (session) => killSession(session, Number(id))))) continue;
    killed += 1;
    log.info({ server, worker, session: Number(id) }, "ended the session of a dead worker");
  }
  return killed;
}
