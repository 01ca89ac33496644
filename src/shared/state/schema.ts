/**
 * The state schema on the target: all that must be remembered (promise 3). Versioned; an unknown version is refused,
 * never migrated silently.
 *
 * Keys of rows (`lower_key`, `planned_to`, …) are text rows (see `columns/text-row.ts`); they are row values and
 * therefore stay here and in batch payloads, nowhere else.
 */
import { DroverError } from "../errors.js";
import { identifier, sql, type ByteSql } from "../mysql/bytes.js";
import type { Session } from "../mysql/session.js";

const STATE_VERSION = 5;

const ID = "VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL";
const TEXT = "LONGTEXT CHARACTER SET utf8mb4";
const TIME = "DATETIME(3)";

/** In dependency-free order; every statement is `IF NOT EXISTS`, so two workers may run them at once. */
function tableStatements(schema: ByteSql): ByteSql[] {
  const create = (name: string, columns: string) =>
    `CREATE TABLE IF NOT EXISTS ${schema}.${name} (${columns}) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin` as ByteSql;
  return [
    create("meta", "version INT NOT NULL PRIMARY KEY"),
    create("migrations", `
      id ${ID} PRIMARY KEY,
      spec ${TEXT} NOT NULL,
      source VARCHAR(64) NOT NULL,
      phase ENUM('planning','copying','catching-up','streaming','completed','paused','stopped','failed') NOT NULL,
      resume_phase ENUM('planning','copying','catching-up','streaming') NOT NULL DEFAULT 'planning',
      catch_up_position ${TEXT} NULL,
      catch_up_at ${TIME} NULL,
      error ${TEXT} NULL,
      progress_at ${TIME} NOT NULL,
      started_at ${TIME} NOT NULL,
      copied_at ${TIME} NULL,
      updated_at ${TIME} NOT NULL`),
    create("tables", `
      migration ${ID},
      number INT NOT NULL,
      source_schema VARCHAR(64) NOT NULL,
      source_table VARCHAR(64) NOT NULL,
      target_schema VARCHAR(64) NOT NULL,
      target_table VARCHAR(64) NOT NULL,
      where_filter ${TEXT} NULL,
      definition ${TEXT} NOT NULL,
      start_position ${TEXT} NOT NULL,
      phase ENUM('pending','planning','copying','indexing','copied') NOT NULL,
      planned BOOL NOT NULL DEFAULT 0,
      planned_to LONGBLOB NULL,
      last_key LONGBLOB NULL,
      no_key_mark ${TEXT} NULL,
      deferred_indexes ${TEXT} NOT NULL,
      overlay BOOL NOT NULL DEFAULT 0,
      generation INT NOT NULL DEFAULT 0,
      copied_position ${TEXT} NULL,
      rows_estimated BIGINT NOT NULL DEFAULT 0,
      PRIMARY KEY (migration, number)`),
    create("chunks", `
      migration ${ID},
      table_number INT NOT NULL,
      number INT NOT NULL,
      lower_key LONGBLOB NULL,
      upper_key LONGBLOB NULL,
      state ENUM('pending','done') NOT NULL,
      row_count BIGINT NOT NULL DEFAULT 0,
      byte_count BIGINT NOT NULL DEFAULT 0,
      read_ms INT NOT NULL DEFAULT 0,
      write_ms INT NOT NULL DEFAULT 0,
      attempts INT NOT NULL DEFAULT 0,
      done_at ${TIME} NULL,
      PRIMARY KEY (migration, table_number, number),
      KEY by_state (migration, state, table_number, number)`),
    create("fence", `
      migration ${ID} PRIMARY KEY,
      epoch BIGINT NOT NULL,
      seq BIGINT NOT NULL,
      position ${TEXT} NOT NULL,
      draining BOOL NOT NULL DEFAULT 0,
      partial BOOL NOT NULL DEFAULT 0,
      applied_rows BIGINT NOT NULL DEFAULT 0,
      applied_transactions BIGINT NOT NULL DEFAULT 0,
      rows_per_second DOUBLE NOT NULL DEFAULT 0,
      source_time BIGINT NOT NULL DEFAULT 0,
      updated_at ${TIME} NOT NULL`),
    create("ddl_journal", `
      migration ${ID} PRIMARY KEY,
      gtid VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      shapes ${TEXT} NOT NULL,
      start_over BOOL NOT NULL DEFAULT 0,
      started_at ${TIME} NOT NULL`),
    create("objects", `
      migration ${ID},
      kind VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      target_schema VARCHAR(64) NOT NULL,
      name VARCHAR(64) NOT NULL,
      fingerprint CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      created BOOL NOT NULL DEFAULT 0,
      adopted BOOL NOT NULL DEFAULT 0,
      replaced ${TEXT} NULL,
      created_at ${TIME} NOT NULL,
      PRIMARY KEY (migration, kind, target_schema, name)`),
    create("cutovers", `
      migration ${ID} PRIMARY KEY,
      options ${TEXT} NOT NULL,
      state ENUM('running','undoing','completed','failed') NOT NULL,
      step VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      facts ${TEXT} NOT NULL,
      error ${TEXT} NULL,
      started_at ${TIME} NOT NULL,
      deadline ${TIME} NOT NULL,
      completed_at ${TIME} NULL`),
    create("diffs", `
      migration ${ID},
      diff ${ID},
      state ENUM('pending','running','stopped','completed','failed') NOT NULL,
      options ${TEXT} NOT NULL,
      scheduled BOOL NOT NULL DEFAULT 0,
      attempts INT NOT NULL DEFAULT 1,
      plan_failures INT NOT NULL DEFAULT 0,
      error ${TEXT} NULL,
      deadline ${TIME} NULL,
      repair_state ENUM('pending','running','completed','failed') NULL,
      repair ${TEXT} NULL,
      progress_at ${TIME} NOT NULL,
      started_at ${TIME} NOT NULL,
      completed_at ${TIME} NULL,
      PRIMARY KEY (migration, diff)`),
    create("diff_schedules", `
      migration ${ID},
      name ${ID},
      target VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      every_ms BIGINT NOT NULL,
      keep_newest INT NOT NULL,
      options ${TEXT} NOT NULL,
      last_diff VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
      last_at ${TIME} NULL,
      created_at ${TIME} NOT NULL,
      PRIMARY KEY (migration, name)`),
    create("diff_tables", `
      migration ${ID},
      diff ${ID},
      table_number INT NOT NULL,
      planned BOOL NOT NULL DEFAULT 0,
      planned_to LONGBLOB NULL,
      next_number INT NOT NULL DEFAULT 1,
      rows_planned BIGINT NOT NULL DEFAULT 0,
      rows_estimated BIGINT NOT NULL DEFAULT 0,
      notes ${TEXT} NULL,
      PRIMARY KEY (migration, diff, table_number)`),
    create("diff_chunks", `
      migration ${ID},
      diff ${ID},
      table_number INT NOT NULL,
      number INT NOT NULL,
      lower_key LONGBLOB NULL,
      upper_key LONGBLOB NULL,
      rows_planned BIGINT NOT NULL DEFAULT 0,
      state ENUM('pending','equal','different','failed') NOT NULL,
      attempts INT NOT NULL DEFAULT 0,
      rows_compared BIGINT NOT NULL DEFAULT 0,
      matching BIGINT NOT NULL DEFAULT 0,
      mismatched BIGINT NOT NULL DEFAULT 0,
      missing BIGINT NOT NULL DEFAULT 0,
      extra BIGINT NOT NULL DEFAULT 0,
      inconclusive BIGINT NOT NULL DEFAULT 0,
      position ${TEXT} NULL,
      hash_ms INT NOT NULL DEFAULT 0,
      elapsed_ms INT NOT NULL DEFAULT 0,
      error ${TEXT} NULL,
      done_at ${TIME} NULL,
      PRIMARY KEY (migration, diff, table_number, number),
      KEY by_state (migration, diff, state, number, table_number)`),
    create("diff_rows", `
      migration ${ID},
      diff ${ID},
      table_number INT NOT NULL,
      chunk INT NOT NULL,
      number INT NOT NULL,
      kind ENUM('mismatched','missing','extra','inconclusive') NOT NULL,
      row_key LONGBLOB NOT NULL,
      columns ${TEXT} NOT NULL,
      repaired_at ${TIME} NULL,
      PRIMARY KEY (migration, diff, table_number, chunk, number)`),
  ];
}

/**
 * Creates the state schema where it is missing.
 * @throws DroverError STATE_VERSION when another version of Drover wrote it
 */
export async function ensureStateSchema(session: Session, schema: string): Promise<void> {
  const quoted = identifier(schema);
  if ((await readStateVersion(session, schema)) === STATE_VERSION) return;
  await session.run(sql`CREATE DATABASE IF NOT EXISTS ${quoted} DEFAULT CHARACTER SET utf8mb4`);
  for (const statement of tableStatements(quoted)) await session.run(statement);
  await session.run(sql`INSERT IGNORE INTO ${quoted}.meta VALUES (${STATE_VERSION})`);
}

/** The version of the state schema; null when there is none. @throws DroverError STATE_VERSION when it is not ours */
export async function readStateVersion(session: Session, schema: string): Promise<number | null> {
  const known = await session.rows(
    `SELECT 1 AS found FROM information_schema.TABLES WHERE TABLE_SCHEMA='${schema}' AND TABLE_NAME='meta'` as ByteSql,
  );
  if (known.length === 0) return null;
  const versions = await session.rows(sql`SELECT version FROM ${identifier(schema)}.meta`);
  // A crash between CREATE and INSERT leaves no row: the creation is simply run again.
  if (versions.length === 0) return null;
  const version = Number(versions[0]?.["version"]);
  if (versions.length === 1 && version === STATE_VERSION) return version;
  throw new DroverError("STATE_VERSION", `the state schema ${schema} has version ${versions.map((v) => v["version"]).join(", ")}, this Drover knows ${STATE_VERSION}`, {
    cure: "use the version of Drover that wrote it, or another DROVER_STATE_SCHEMA",
  });
}
