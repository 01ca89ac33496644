/** Creates objects on a session that holds the DDL lock, each under the settings of its first creation. */
import { DroverError } from "../../shared/errors.js";
import { identifier, qualified, sql, textLiteral, type ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import { objectLabel, type DatabaseObject, type ObjectName } from "../../shared/objects/database-object.js";
import { knownCollation, readCollationNames, settingsStatement } from "../../shared/objects/object-settings.js";
import type { CarriedObject } from "../../shared/state/objects.js";
import type { EngineContext, MigrationRef } from "../context.js";

/** Names in statements of ours are UTF-8 in backticks: under an object's character set they would be other names. As when the session was opened. */
const OWN_SETTINGS = "SET NAMES binary, SESSION sql_mode='NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'" as ByteSql;

export interface CreatorOptions {
  context: EngineContext;
  ref: MigrationRef;
  /** Holds the DDL lock. */
  session: Session;
  signal: AbortSignal;
}

export class ObjectCreator {
  private readonly options: CreatorOptions;
  private collations: ReadonlySet<string> = new Set();

  constructor(options: CreatorOptions) {
    this.options = options;
  }

  /** Comes before `create`. @param journal what a run that was cut short has left */
  async begin(journal: readonly CarriedObject[]): Promise<void> {
    await this.restoreSchemas(journal);
    this.collations = await this.onState(readCollationNames);
  }

  /**
   * A routine keeps the collation that its schema has at its creation: for this moment the schema has that one.
   * @param schema where it is created
   * @throws DroverError STATEMENT_REFUSED
   */
  async create(object: DatabaseObject, schema: string, statement: ByteSql): Promise<void> {
    const { session } = this.options;
    const own = await this.schemaCollation(schema);
    try {
      const wanted = object.databaseCollation === null ? own : knownCollation(object, object.databaseCollation, this.collations);
      const entry: CarriedObject = { kind: "schema", schema, name: own, fingerprint: "", created: false, adopted: false, replaced: null };
      if (wanted !== own) {
        await this.onState((other) => this.store.put(other, this.options.ref.migration, entry));
        await session.run(sql`ALTER DATABASE ${identifier(schema)} COLLATE ${wanted as ByteSql}`);
      }
      await session.run(sql`USE ${identifier(schema)}`);
      await session.run(settingsStatement(object, this.collations));
      await session.run(statement);
      await session.run(OWN_SETTINGS);
      if (wanted !== own) await this.restoreSchemas([entry]);
    } catch (error) {
      if (!(error instanceof DroverError) || error.code !== "STATEMENT_REFUSED") throw error;
      throw new DroverError(error.code, `the ${objectLabel({ ...object, schema })} cannot be created: ${error.message}`, { errno: error.errno, sqlState: error.sqlState, cure: error.cure, cause: error });
    }
  }

  /** After a crash or an error in `create` the next run does it. */
  private async restoreSchemas(journal: readonly CarriedObject[]): Promise<void> {
    for (const entry of journal) {
      if (entry.kind !== "schema") continue;
      await this.options.session.run(sql`ALTER DATABASE ${identifier(entry.schema)} COLLATE ${entry.name as ByteSql}`);
      await this.onState((session) => this.store.remove(session, this.options.ref.migration, entry));
    }
  }

  private async schemaCollation(schema: string): Promise<string> {
    const [row] = await this.onState((session) => session.rows(sql`SELECT DEFAULT_COLLATION_NAME AS collation FROM information_schema.SCHEMATA WHERE SCHEMA_NAME=${textLiteral(schema)}`));
    return row?.["collation"] ?? "";
  }

  private get store() {
    return this.options.context.state.objects;
  }

  /** Beside the session with the lock. */
  private onState<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const { context, ref, signal } = this.options;
    return context.connections.use(ref.target, "target", signal, work);
  }
}

export function dropStatement({ kind, schema, name }: ObjectName): ByteSql {
  return sql`DROP ${kind.toUpperCase() as ByteSql} IF EXISTS ${qualified(schema, name)}`;
}
