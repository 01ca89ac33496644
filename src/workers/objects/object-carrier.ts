/** One run over the objects of a migration, on a session that holds the DDL lock. */
import { createHash } from "node:crypto";
import { DroverError } from "../../shared/errors.js";
import { identifier, qualified, sql, textLiteral, type ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import { objectLabel, type ObjectName } from "../../shared/objects/database-object.js";
import { knownCollation, readCollationNames, settingsOf, settingsStatement } from "../../shared/objects/object-settings.js";
import type { PlannedObject } from "../../shared/objects/plan-objects.js";
import { listObjects, readObjects } from "../../shared/objects/read-objects.js";
import { sameObject } from "../../shared/objects/same-object.js";
import type { CarriedObject } from "../../shared/state/objects.js";
import type { EngineContext, MigrationRef } from "../context.js";
import type { CarryOptions } from "./carry-options.js";

/** Names in statements of ours are UTF-8 in backticks: under an object's character set they would be other names. As when the session was opened. */
const OWN_SETTINGS = "SET NAMES binary, SESSION sql_mode='NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'" as ByteSql;

export interface CarrierOptions {
  context: EngineContext;
  ref: MigrationRef;
  carry: CarryOptions;
  /** Holds the DDL lock. */
  session: Session;
  signal: AbortSignal;
}

export class ObjectCarrier {
  private readonly options: CarrierOptions;
  private readonly notes: string[] = [];
  private collations: ReadonlySet<string> = new Set();

  constructor(options: CarrierOptions) {
    this.options = options;
  }

  /** @returns what there is to say of it */
  async run(objects: readonly PlannedObject[]): Promise<string[]> {
    const { kinds } = this.options.carry;
    const before = await this.journal();
    await this.restoreSchemas(before);
    const present = await this.present(objects);
    this.collations = await this.onState(readCollationNames);
    for (const known of before) {
      if (known.kind === "schema" || !kinds.includes(known.kind) || objects.some((planned) => isSame(planned, known))) continue;
      // Dropped on the source since.
      if (!known.adopted) await this.options.session.run(dropStatement({ ...known, kind: known.kind }));
      await this.onState((session) => this.store.remove(session, this.options.ref.migration, known));
    }
    for (const planned of objects) await this.carry(planned, before.find((known) => isSame(planned, known)), present.has(keyOf(nameOf(planned))));
    return this.notes;
  }

  private async carry(planned: PlannedObject, known: CarriedObject | undefined, present: boolean): Promise<void> {
    const { carry, session, context, ref } = this.options;
    const name = nameOf(planned);
    const statement = carry.disableEvents === true ? (planned.disabled ?? planned.statement) : planned.statement;
    const fingerprint = fingerprintOf(planned, statement);
    if (known?.created === true && known.fingerprint === fingerprint && present) return;
    const record = (change: Partial<CarriedObject>) => this.put({ ...name, fingerprint, created: false, adopted: known?.adopted ?? false, ...change });
    if (present && known === undefined) {
      if (await this.looksTheSame(planned)) return await record({ created: true, adopted: true });
      if (carry.spec.options.existingTarget !== "replace")
        throw new DroverError("PREFLIGHT_FAILED", `${ref.target}: there is another ${objectLabel(name)} already`, { cure: 'drop it, or set options.existingTarget to "replace"' });
    }
    await record({});
    if (present) await session.run(dropStatement(name));
    const detail = { migration: ref.migration, kind: name.kind, name: name.name };
    await context.hooks.at("object:before-create", detail);
    await this.create(planned, statement);
    await context.hooks.at("object:after-create", detail);
    // The server drops an event at once whose time is over.
    if (name.kind === "event" && !(await this.onState((other) => listObjects(other, name.schema, ["event"]))).some((event) => event.name === name.name))
      this.notes.push(`the ${objectLabel(name)} was not created: its time is over`);
    await record({ created: true });
  }

  /** A routine keeps the collation that its schema has at its creation: for this moment the schema has that one. */
  private async create(planned: PlannedObject, statement: ByteSql): Promise<void> {
    const { object, schema } = planned;
    const { session } = this.options;
    const own = await this.schemaCollation(schema);
    const wanted = object.databaseCollation === null ? own : knownCollation(object, object.databaseCollation, this.collations);
    const entry: CarriedObject = { kind: "schema", schema, name: own, fingerprint: "", created: false, adopted: false };
    try {
      if (wanted !== own) {
        await this.put(entry);
        await session.run(sql`ALTER DATABASE ${identifier(schema)} COLLATE ${wanted as ByteSql}`);
      }
      await session.run(sql`USE ${identifier(schema)}`);
      await session.run(settingsStatement(object, this.collations));
      await session.run(statement);
      await session.run(OWN_SETTINGS);
      if (wanted !== own) await this.restoreSchemas([entry]);
    } catch (error) {
      if (!(error instanceof DroverError) || error.code !== "STATEMENT_REFUSED") throw error;
      throw new DroverError(error.code, `the ${objectLabel(nameOf(planned))} cannot be created: ${error.message}`, { errno: error.errno, sqlState: error.sqlState, cure: error.cure, cause: error });
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

  private async present(objects: readonly PlannedObject[]): Promise<Set<string>> {
    const found = new Set<string>();
    for (const schema of new Set(objects.map((planned) => planned.schema)))
      for (const object of await this.onState((session) => listObjects(session, schema, this.options.carry.kinds))) found.add(keyOf(object));
    return found;
  }

  private async looksTheSame({ object, schema, definer }: PlannedObject): Promise<boolean> {
    const there = await this.onState(async (session) => {
      const [found] = await readObjects(session, [{ ...object, schema }]);
      session.destroy();
      return found;
    });
    return there !== undefined && sameObject(there, { object, definer });
  }

  private get store() {
    return this.options.context.state.objects;
  }

  private journal(): Promise<CarriedObject[]> {
    return this.onState((session) => this.store.list(session, this.options.ref.migration));
  }

  private put(object: CarriedObject): Promise<void> {
    return this.onState((session) => this.store.put(session, this.options.ref.migration, object));
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

function nameOf({ object, schema }: PlannedObject): ObjectName {
  return { kind: object.kind, schema, name: object.name };
}

function isSame(planned: PlannedObject, known: CarriedObject): boolean {
  return planned.object.kind === known.kind && planned.schema === known.schema && planned.object.name === known.name;
}

function keyOf({ kind, schema, name }: ObjectName): string {
  return JSON.stringify([kind, schema, name]);
}

function fingerprintOf({ object, definer }: PlannedObject, statement: ByteSql): string {
  return createHash("sha256").update(JSON.stringify([statement, definer, settingsOf(object)])).digest("hex");
}
