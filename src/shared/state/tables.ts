/** The tables of a migration: what they look like on the source, where they go, how far the copy is. */
import type { NoKeyProgress } from "../backlog/no-key-progress.js";
import type { TableDefinition, TableName } from "../columns/table-definition.js";
import { DroverError } from "../errors.js";
import { identifier, sql, type ByteSql } from "../mysql/bytes.js";
import type { Session, TextRecord } from "../mysql/session.js";
import { blob, blobOf, hexOf, id, json, numberOf, text, textOf } from "./values.js";

export type TablePhase = "pending" | "planning" | "copying" | "indexing" | "copied";

export interface MigrationTable {
  number: number;
  source: TableName;
  target: TableName;
  where: string | null;
  definition: TableDefinition;
  /** Events of this table at or before this position are older than its definition and are skipped. */
  startPosition: string;
  phase: TablePhase;
  /** All chunks are cut. */
  planned: boolean;
  /** The upper key of the last chunk cut so far. */
  plannedTo: Buffer | null;
  /** The largest key when planning began: rows beyond it come by the binlog. */
  lastKey: Buffer | null;
  /** Of a table without a key; see `backlog/no-key-progress.ts`. */
  noKeyMark: NoKeyProgress | null;
  /** Index clauses (`ADD …`) to build after the rows. */
  deferredIndexes: string[];
  /** The target table may hold rows already (`existingTarget: resume`): a chunk first deletes its range. */
  overlay: boolean;
  /** Counts how often the table started over. */
  generation: number;
  /** All chunk reads came before this position; null while it is copied, and for a table that no chunk was read of. */
  copiedPosition: string | null;
  rowsEstimated: number;
}

/** A table without its definition, which is nearly all of its bytes: what is asked of all tables every second. */
export interface TableProgress extends Pick<MigrationTable, "number" | "source" | "target" | "phase" | "planned" | "generation" | "rowsEstimated"> {
  /** Indexes are built after its rows. */
  defersIndexes: boolean;
}

const COLUMNS = `number, source_schema, source_table, target_schema, target_table, where_filter, definition, start_position, phase, planned,
  ${hexOf("planned_to")}, ${hexOf("last_key")}, no_key_mark, deferred_indexes, overlay, generation, copied_position, rows_estimated` as ByteSql;

export class TableStore {
  private readonly table: ByteSql;

  constructor(schema: string) {
    this.table = `${identifier(schema)}.tables` as ByteSql;
  }

  /** Records a table, or records it anew when it starts over. */
  async put(session: Session, migration: string, t: MigrationTable): Promise<void> {
    await session.run(sql`REPLACE INTO ${this.table} (migration, number, source_schema, source_table, target_schema, target_table, where_filter,
        definition, start_position, phase, planned, planned_to, last_key, no_key_mark, deferred_indexes, overlay, generation, copied_position, rows_estimated)
      VALUES (${id(migration)}, ${t.number}, ${text(t.source.schema)}, ${text(t.source.table)}, ${text(t.target.schema)}, ${text(t.target.table)}, ${text(t.where)},
        ${json(t.definition)}, ${text(t.startPosition)}, ${id(t.phase)}, ${t.planned ? 1 : 0}, ${blob(t.plannedTo)}, ${blob(t.lastKey)}, ${t.noKeyMark === null ? text(null) : json(t.noKeyMark)}, ${json(t.deferredIndexes)},
        ${t.overlay ? 1 : 0}, ${t.generation}, ${text(t.copiedPosition)}, ${t.rowsEstimated})`);
  }

  async list(session: Session, migration: string): Promise<MigrationTable[]> {
    return (await session.rows(sql`SELECT ${COLUMNS} FROM ${this.table} WHERE migration=${id(migration)} ORDER BY number`)).map(tableOf);
  }

  async progress(session: Session, migration: string): Promise<TableProgress[]> {
    const rows = await session.rows(sql`SELECT number, source_schema, source_table, target_schema, target_table, phase, planned, generation, rows_estimated, deferred_indexes<>'[]' AS defers_indexes
      FROM ${this.table} WHERE migration=${id(migration)} ORDER BY number`);
    return rows.map((row) => ({ ...headOf(row), defersIndexes: row["defers_indexes"] === "1" }));
  }

  /** Null for a table that has left the migration: it was dropped on the source. */
  async read(session: Session, migration: string, number: number): Promise<MigrationTable | null> {
    const [row] = await session.rows(sql`SELECT ${COLUMNS} FROM ${this.table} WHERE migration=${id(migration)} AND number=${number}`);
    return row ? tableOf(row) : null;
  }

  /** Another text when what `read` gives has changed, without the definition's many bytes; null as there. */
  async version(session: Session, migration: string, number: number): Promise<string | null> {
    const [row] = await session.rows(sql`SELECT CONCAT_WS('/', CRC32(definition), CHAR_LENGTH(definition), generation, source_schema, source_table, target_schema, target_table, CRC32(COALESCE(where_filter, ''))) AS version
      FROM ${this.table} WHERE migration=${id(migration)} AND number=${number}`);
    return row?.["version"] ?? null;
  }

  /** @throws DroverError NOT_FOUND */
  async require(session: Session, migration: string, number: number): Promise<MigrationTable> {
    const table = await this.read(session, migration, number);
    if (!table) throw new DroverError("NOT_FOUND", `migration ${migration} has no table ${number}: it was removed`);
    return table;
  }

  /** All its chunks are done; unless it has started over since it was read, or is copied already. */
  async setIndexing(session: Session, migration: string, table: Pick<MigrationTable, "number" | "generation">): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET phase='indexing'
      WHERE migration=${id(migration)} AND number=${table.number} AND generation=${table.generation} AND planned=1 AND phase='copying'`);
  }

  /** Their rows and indexes are there. One statement for all of a generation: of thousands of tables each commit counts. @param position a position of the source behind all chunk reads */
  async setCopied(session: Session, migration: string, tables: readonly Pick<MigrationTable, "number" | "generation">[], position: string): Promise<void> {
    for (const generation of new Set(tables.map((table) => table.generation))) {
      const numbers = tables.filter((table) => table.generation === generation).map((table) => table.number).join(",") as ByteSql;
      await session.run(sql`UPDATE ${this.table} SET phase='copied', copied_position=${text(position)}
        WHERE migration=${id(migration)} AND number IN (${numbers}) AND generation=${generation} AND planned=1 AND phase IN ('copying','indexing')`);
    }
  }

  /** Whoever numbers new chunks of a table holds its row. */
  async lock(session: Session, migration: string, number: number): Promise<void> {
    await session.rows(sql`SELECT number FROM ${this.table} WHERE migration=${id(migration)} AND number=${number} FOR UPDATE`);
  }

  /** A table starts over: what is known of it is void until its target is created anew. */
  async startOver(session: Session, migration: string, number: number): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET phase='pending', planned=0, planned_to=NULL, last_key=NULL, no_key_mark=NULL, deferred_indexes='[]', overlay=0, copied_position=NULL, generation=generation+1
      WHERE migration=${id(migration)} AND number=${number}`);
  }

  /** The rows of a table without a key are those of this position. */
  async setStartPosition(session: Session, migration: string, number: number, position: string): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET start_position=${text(position)} WHERE migration=${id(migration)} AND number=${number}`);
  }

  async setNoKeyMark(session: Session, migration: string, number: number, mark: NoKeyProgress): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET no_key_mark=${json(mark)} WHERE migration=${id(migration)} AND number=${number}`);
  }

  async remove(session: Session, migration: string, number: number): Promise<void> {
    await session.run(sql`DELETE FROM ${this.table} WHERE migration=${id(migration)} AND number=${number}`);
  }

  /**
   * Records how far the planner came, if it still stands where this planner found it.
   * @returns false when another planner was faster: what was planned here is void and must be rolled back
   */
  async recordPlan(session: Session, migration: string, before: MigrationTable, after: { plannedTo: Buffer | null; lastKey: Buffer | null; planned: boolean }): Promise<boolean> {
    const done = await session.run(sql`UPDATE ${this.table} SET planned_to=${blob(after.plannedTo)}, last_key=${blob(after.lastKey)}, planned=${after.planned ? 1 : 0}, phase='copying'
      WHERE migration=${id(migration)} AND number=${before.number} AND generation=${before.generation} AND planned=0 AND planned_to <=> ${blob(before.plannedTo)}
        AND phase IN ('planning','copying')`);
    // Nothing changed but the row matched counts as 0 affected rows; a plan step always changes something.
    return done.affectedRows === 1;
  }
}

function headOf(row: TextRecord): Omit<TableProgress, "defersIndexes"> {
  return {
    number: numberOf(row, "number"),
    source: { schema: textOf(row, "source_schema"), table: textOf(row, "source_table") },
    target: { schema: textOf(row, "target_schema"), table: textOf(row, "target_table") },
    phase: textOf(row, "phase") as TablePhase,
    planned: row["planned"] === "1",
    generation: numberOf(row, "generation"),
    rowsEstimated: numberOf(row, "rows_estimated"),
  };
}

function tableOf(row: TextRecord): MigrationTable {
  return {
    ...headOf(row),
    where: row["where_filter"] ?? null,
    definition: JSON.parse(textOf(row, "definition")) as TableDefinition,
    startPosition: textOf(row, "start_position"),
    plannedTo: blobOf(row, "planned_to"),
    lastKey: blobOf(row, "last_key"),
    noKeyMark: row["no_key_mark"] == null ? null : (JSON.parse(row["no_key_mark"]) as NoKeyProgress),
    deferredIndexes: JSON.parse(textOf(row, "deferred_indexes")) as string[],
    overlay: row["overlay"] === "1",
    copiedPosition: row["copied_position"] ?? null,
  };
}
