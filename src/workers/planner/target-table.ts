/** Creates a target table, or takes the one that is there, as `existingTarget` says. Safe to run again after a crash. */
import { createStatement } from "../../shared/columns/create-statement.js";
import type { TableDefinition, TableName } from "../../shared/columns/table-definition.js";
import type { MigrationOptions } from "../../shared/contracts/spec.js";
import { DroverError } from "../../shared/errors.js";
import { identifier, qualified, sql, textLiteral, utf8Sql, type ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import type { MigrationTable } from "../../shared/state/tables.js";

/** Below this many rows (the server's estimate) building indexes afterwards saves nothing. */
export const SMALL_TABLE_ROWS = 5_000;

export interface PreparedTarget {
  deferredIndexes: string[];
  overlay: boolean;
}

/**
 * @param present the target's table as it is; null when there is none
 * @param record called before the table is created, with the indexes that it is created without: a crash right after
 *   leaves an empty table that looks like any other
 * @throws DroverError PREFLIGHT_FAILED when the table has rows and `existingTarget` is `fail`
 */
export async function prepareTarget(
  session: Session,
  table: MigrationTable,
  present: TableDefinition | null,
  existing: MigrationOptions["existingTarget"],
  record: (deferredIndexes: string[]) => Promise<void>,
): Promise<PreparedTarget> {
  const { target, definition } = table;
  if (present !== null) {
    const [row] = await session.rows(sql`SELECT EXISTS(SELECT 1 FROM ${qualified(target.schema, target.table)} LIMIT 1) AS filled`);
    const filled = row?.["filled"] === "1";
    if (existing !== "replace") {
      if (filled && existing === "fail")
        throw new DroverError("PREFLIGHT_FAILED", `the target table ${target.schema}.${target.table} exists and is not empty`, {
          cure: 'empty it, or set options.existingTarget to "resume" or "replace"',
        });
      // What an earlier attempt recorded; of these only the missing ones are built.
      return { deferredIndexes: table.deferredIndexes, overlay: filled };
    }
  }
  const deferIndexes = definition.rowsEstimated >= SMALL_TABLE_ROWS;
  const { deferred } = createStatement(definition, { ...target, deferIndexes, family: family(session) });
  // Of thousands of small tables each commit counts.
  if (deferred.length > 0 || table.deferredIndexes.length > 0) await record(deferred);
  if (present !== null) await dropTarget(session, target);
  return { deferredIndexes: await createTarget(session, table, deferIndexes), overlay: false };
}

function family(session: Session): "mysql" | "mariadb" {
  return session.isMariaDb ? "mariadb" : "mysql";
}

/** Drops and creates the target table; returns the indexes to build after the rows. */
export async function recreateTarget(session: Session, table: MigrationTable, deferIndexes: boolean): Promise<string[]> {
  const { target, definition } = table;
  // Before anything is dropped: it may not be possible.
  createStatement(definition, { ...target, deferIndexes, family: family(session) });
  await dropTarget(session, target);
  return await createTarget(session, table, deferIndexes);
}

async function dropTarget(session: Session, { schema, table }: TableName): Promise<void> {
  await session.run(sql`DROP TABLE IF EXISTS ${qualified(schema, table)}`);
}

async function createTarget(session: Session, table: MigrationTable, deferIndexes: boolean): Promise<string[]> {
  const { target, definition } = table;
  const created = createStatement(definition, { ...target, deferIndexes, family: family(session) });
  for (const statement of created.statements)
    await session.run(statement, { patience: 60_000 }).catch((error: unknown) => {
      throw refused(error, target);
    });
  return created.deferred;
}

/** What the server says names no table, or not ours. The number stays: the caller may know what to do. */
function refused(error: unknown, { schema, table }: TableName): unknown {
  if (!(error instanceof DroverError) || error.code !== "STATEMENT_REFUSED") return error;
  return new DroverError(error.code, `the target table ${schema}.${table} could not be created: ${error.message}`, {
    errno: error.errno, sqlState: error.sqlState, cause: error,
    cure: 'change the definition on the source, or create the target table by hand and start with options.existingTarget "resume"',
  });
}

/** Creates the target's schema with the default character set of the source's. */
export async function ensureTargetSchema(source: Session, target: Session, sourceSchema: string, targetSchema: string): Promise<void> {
  const [there] = await target.rows(sql`SELECT 1 AS found FROM information_schema.SCHEMATA WHERE SCHEMA_NAME=${textLiteral(targetSchema)}`);
  if (there) return;
  const [defaults] = await source.rows(
    sql`SELECT DEFAULT_CHARACTER_SET_NAME AS charset, DEFAULT_COLLATION_NAME AS collation FROM information_schema.SCHEMATA WHERE SCHEMA_NAME=${textLiteral(sourceSchema)}`,
  );
  const clause = (defaults ? `DEFAULT CHARACTER SET ${defaults["charset"]} COLLATE ${defaults["collation"]}` : "") as ByteSql;
  await target.run(sql`CREATE DATABASE IF NOT EXISTS ${identifier(targetSchema)} ${utf8Sql(clause)}`);
}
