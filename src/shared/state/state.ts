/** The state schema's stores, one per noun. Their methods take the session to run on, so that they join the caller's transaction. */
import { ChunkStore } from "./chunks.js";
import { FenceStore } from "./fence.js";
import { MigrationStore } from "./migrations.js";
import { TableStore } from "./tables.js";

export class State {
  readonly schema: string;
  readonly migrations: MigrationStore;
  readonly tables: TableStore;
  readonly chunks: ChunkStore;
  readonly fence: FenceStore;

  constructor(schema: string) {
    this.schema = schema;
    this.migrations = new MigrationStore(schema);
    this.tables = new TableStore(schema);
    this.chunks = new ChunkStore(schema);
    this.fence = new FenceStore(schema);
  }
}
