/** The state schema's stores, one per noun. Their methods take the session to run on, so that they join the caller's transaction. */
import { identifier, sql, type ByteSql } from "../mysql/bytes.js";
import type { Session } from "../mysql/session.js";
import { BeginnerStore } from "./beginners.js";
import { ChunkStore } from "./chunks.js";
import { CutoverStore } from "./cutovers.js";
import { DdlJournalStore } from "./ddl-journal.js";
import { FenceStore } from "./fence.js";
import { MigrationStore } from "./migrations.js";
import { ObjectStore } from "./objects.js";
import { TableStore } from "./tables.js";
import { TargetClaims } from "./target-claims.js";
import { id } from "./values.js";

/** Every table that holds rows of a migration, but for `migrations` itself. */
const MIGRATION_TABLES = ["diff_schedules", "diff_rows", "diff_chunks", "diff_tables", "diffs", "chunks", "tables", "ddl_journal", "objects", "cutovers", "fence"];

export class State {
  readonly schema: string;
  readonly migrations: MigrationStore;
  readonly tables: TableStore;
  readonly claims: TargetClaims;
  readonly chunks: ChunkStore;
  readonly fence: FenceStore;
  readonly ddlJournal: DdlJournalStore;
  readonly objects: ObjectStore;
  readonly cutovers: CutoverStore;
  readonly beginners: BeginnerStore;

  constructor(schema: string) {
    this.schema = schema;
    this.migrations = new MigrationStore(schema);
    this.tables = new TableStore(schema);
    this.claims = new TargetClaims(schema);
    this.chunks = new ChunkStore(schema);
    this.fence = new FenceStore(schema);
    this.ddlJournal = new DdlJournalStore(schema);
    this.objects = new ObjectStore(schema);
    this.cutovers = new CutoverStore(schema);
    this.beginners = new BeginnerStore(schema);
  }

  /** Deletes all that is known of a migration, in the caller's transaction. */
  async removeMigration(session: Session, migration: string): Promise<void> {
    for (const table of MIGRATION_TABLES) await session.run(sql`DELETE FROM ${identifier(this.schema)}.${table as ByteSql} WHERE migration=${id(migration)}`);
    await this.migrations.remove(session, migration);
  }
}
