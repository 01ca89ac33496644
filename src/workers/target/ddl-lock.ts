/**
 * One worker at a time executes DDL on a migration's target tables.
 *
 * DDL commits by itself, so it cannot check the fence in its own transaction (I3). What fences it is the session: the check and
 * the DDL run on one session that holds a named lock of the server. A zombie's session still holds the lock, and then nobody
 * else goes on; or the server has closed it (`wait_timeout`, 7 s), and then the zombie cannot run anything any more.
 */
import { createHash } from "node:crypto";
import { DroverError } from "../../shared/errors.js";
import type { ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import type { EngineContext, MigrationRef } from "../context.js";

/** Seconds to wait for another worker's DDL; a longer one is waited for by trying again. */
const LOCK_WAIT = 5;

/** @throws DroverError SERVER_BUSY while another session executes DDL of this migration */
export async function withDdlLock<T>(context: EngineContext, ref: MigrationRef, signal: AbortSignal, work: (session: Session) => Promise<T>): Promise<T> {
  return await withLock(context, ref, "ddl", signal, work);
}

/**
 * The same for the indexes of one table, which are built for hours perhaps, while DDL of other tables goes on.
 * @throws DroverError SERVER_BUSY while another session builds them, or creates the table anew
 */
export async function withIndexLock<T>(context: EngineContext, ref: MigrationRef, table: number, signal: AbortSignal, work: (session: Session) => Promise<T>): Promise<T> {
  return await withLock(context, ref, `index-${table}`, signal, work);
}

/**
 * Keeps index builds away from a table that is about to be dropped, until the session ends. It holds the DDL lock already; a
 * builder never asks for that one, so nobody waits in a circle.
 * @throws DroverError SERVER_BUSY
 */
export async function keepBuildersOut(context: EngineContext, ref: MigrationRef, table: number, session: Session): Promise<void> {
  await takeLock(context, ref, `index-${table}`, session);
}

async function withLock<T>(context: EngineContext, ref: MigrationRef, what: string, signal: AbortSignal, work: (session: Session) => Promise<T>): Promise<T> {
  return await context.connections.use(ref.target, "target", signal, async (session) => {
    await takeLock(context, ref, what, session);
    try {
      return await work(session);
    } finally {
      // The lock and the settings of a statement's session end with it.
      session.destroy();
    }
  });
}

async function takeLock(context: EngineContext, ref: MigrationRef, what: string, session: Session): Promise<void> {
  // Names of locks are 64 characters at most.
  const name = `drover-ddl-${createHash("sha256").update(JSON.stringify([context.state.schema, ref.migration, what])).digest("hex").slice(0, 40)}`;
  const [row] = await session.rows(`SELECT GET_LOCK('${name}', ${LOCK_WAIT}) AS held` as ByteSql);
  if (row?.["held"] !== "1") throw new DroverError("SERVER_BUSY", `${session.server}: another session is executing DDL of the migration ${ref.migration}`);
}
