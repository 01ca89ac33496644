/** Builds a table's secondary indexes after its rows: one ALTER, twice as cheap as keeping them up row by row. */
import { addIndexStatements } from "../../shared/columns/create-statement.js";
import { readTableDefinition } from "../../shared/columns/read-table.js";
import { DroverError } from "../../shared/errors.js";
import { qualified, sql, type ByteSql } from "../../shared/mysql/bytes.js";
import { killSession } from "../../shared/mysql/kill-session.js";
import { executedPosition } from "../../shared/mysql/position.js";
import type { Session } from "../../shared/mysql/session.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { raiseCounters, readCounters } from "../target/auto-increment.js";
import { withIndexLock } from "../target/ddl-lock.js";
import { withPulse } from "../progress-pulse.js";
import { isGone } from "./present-table.js";

/** An index build works in silence; the kernel's keepalive tells when the server is gone. */
const BUILD_PATIENCE = 24 * 3_600_000;
/** Sort memory of the build; the server's default of 1 MiB makes it merge many runs. MySQL 8.0.27 and later. */
const BUILD_BUFFER = 64 * 1024 * 1024;

/** Idempotent: what an earlier attempt built is not built again, and an ALTER that it left running is ended first. */
export async function buildIndexes(context: EngineContext, ref: MigrationRef, number: number, signal: AbortSignal): Promise<void> {
  const { connections, state } = context;
  const table = await connections.use(ref.target, "target", signal, (session) => state.tables.read(session, ref.migration, number));
  // `advance` sets that phase when all chunks of this generation are done; a job that came late must not touch another one.
  if (table === null || table.phase !== "indexing") return;
  try {
    if (table.deferredIndexes.length > 0) await build(context, ref, table, signal);
  } catch (error) {
    // Of a table that has started over meanwhile: it is another one now, or gone.
    const now = await connections.use(ref.target, "target", signal, (session) => state.tables.read(session, ref.migration, number));
    if (now?.generation !== table.generation) return;
    throw error;
  }
  const { spec } = await connections.use(ref.target, "target", signal, (session) => state.migrations.require(session, ref.migration));
  const counters = await connections.use(spec.source, "source", signal, (session) => readCounters(session, [table])).catch((error: unknown) => {
    // Dropped or renamed: what becomes of it comes by the binlog.
    if (isGone(error)) return [];
    throw error;
  });
  await connections.use(ref.target, "target", signal, (session) => raiseCounters(session, counters));
  // All chunks are done. DDL up to here may have come before some of their reads.
  const position = await connections.use(spec.source, "source", signal, executedPosition);
  await connections.use(ref.target, "target", signal, (session) => state.tables.setCopied(session, ref.migration, [table], position));
}

async function build(context: EngineContext, ref: MigrationRef, table: MigrationTable, signal: AbortSignal): Promise<void> {
  await endOldBuilds(context, ref, table, signal);
  await withIndexLock(context, ref, table.number, signal, async (session) => {
    // Who creates the table anew holds the lock meanwhile: behind this look it stays the same table until the session ends.
    const now = await context.state.tables.read(session, ref.migration, table.number);
    if (now?.generation !== table.generation || now.phase !== "indexing") return;
    await context.hooks.at("index:before-build", { migration: ref.migration, table: table.number });
    const missing = await missingIndexes(session, table);
    if (missing.length === 0) return;
    if (!session.isMariaDb) await session.run(`SET SESSION /*!80027 innodb_ddl_buffer_size=${BUILD_BUFFER}, */ lock_wait_timeout=10` as ByteSql);
    await withPulse(context, ref, signal, async () => {
      for (const statement of addIndexStatements(table.target, missing)) await session.run(statement, { patience: BUILD_PATIENCE });
    });
  });
}

async function missingIndexes(session: Session, table: MigrationTable): Promise<string[]> {
  const present = await readTableDefinition(session, table.target.schema, table.target.table);
  if (present === null) throw new DroverError("STATEMENT_REFUSED", `${session.server}: the target table ${table.target.schema}.${table.target.table} is gone`);
  const names = new Set(present.indexes.map((index) => index.name.toLowerCase()));
  return table.deferredIndexes.filter((clause) => !names.has(indexName(clause).toLowerCase()));
}

/** The name in "ADD KEY `name` (…". */
function indexName(clause: string): string {
  const quoted = /`((?:[^`]|``)*)`/.exec(clause)?.[1];
  return (quoted ?? "").replaceAll("``", "`");
}

/** A killed worker's ALTER goes on in the server; two at once would wait for each other's metadata lock, and so would a DROP. */
export async function endOldBuilds(context: EngineContext, ref: MigrationRef, table: MigrationTable, signal: AbortSignal): Promise<void> {
  const { connections } = context;
  const { schema, table: name } = table.target;
  const start = Buffer.from(sql`ALTER TABLE ${qualified(schema, name)} ADD `, "latin1").toString("utf8");
  const old = await connections.use(ref.target, "target", signal, async (session) => {
    const [own] = await session.rows("SELECT SUBSTRING_INDEX(USER(),'@',1) AS user, CONNECTION_ID() AS id" as ByteSql);
    // Not information_schema.PROCESSLIST: MySQL 9 refuses to read it (3854) while any session runs a statement with raw bytes, as ours do.
    const sessions = await session.rows("SHOW FULL PROCESSLIST" as ByteSql);
    return sessions.filter((s) => s["User"] === own?.["user"] && s["Id"] !== own?.["id"] && s["Info"]?.startsWith(start)).map((s) => s["Id"]);
  });
  for (const id of old) await connections.use(ref.target, "target", signal, (session) => killSession(session, Number(id)));
}
