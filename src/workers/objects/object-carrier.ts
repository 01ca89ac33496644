/** One run over the objects of a migration, on a session that holds the DDL lock. */
import { createHash } from "node:crypto";
import { DroverError } from "../../shared/errors.js";
import type { ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import { objectLabel, type DatabaseObject, type ObjectName } from "../../shared/objects/database-object.js";
import { settingsOf } from "../../shared/objects/object-settings.js";
import type { PlannedObject } from "../../shared/objects/plan-objects.js";
import { listObjects, readObjects, type ListedObject } from "../../shared/objects/read-objects.js";
import { sameObject } from "../../shared/objects/same-object.js";
import type { CarriedObject } from "../../shared/state/objects.js";
import type { CarryOptions } from "./carry-options.js";
import { ObjectCreator, dropStatement, type CreatorOptions } from "./object-creator.js";

export interface CarrierOptions extends CreatorOptions {
  carry: CarryOptions;
}

export class ObjectCarrier {
  private readonly options: CarrierOptions;
  private readonly notes: string[] = [];
  private readonly creator: ObjectCreator;

  constructor(options: CarrierOptions) {
    this.options = options;
    this.creator = new ObjectCreator(options);
  }

  /** @returns what there is to say of it */
  async run(objects: readonly PlannedObject[]): Promise<string[]> {
    const { kinds } = this.options.carry;
    const before = await this.journal();
    await this.creator.begin(before);
    const present = await this.present(objects);
    for (const known of before) {
      if (known.kind === "schema" || !kinds.includes(known.kind) || objects.some((planned) => isSame(planned, known))) continue;
      // Dropped on the source since.
      if (!known.adopted) await this.options.session.run(dropStatement({ ...known, kind: known.kind }));
      await this.onState((session) => this.store.remove(session, this.options.ref.migration, known));
    }
    for (const planned of objects) await this.carry(planned, before.find((known) => isSame(planned, known)), present.get(keyOf(nameOf(planned))));
    return this.notes;
  }

  private async carry(planned: PlannedObject, known: CarriedObject | undefined, present: ListedObject | undefined): Promise<void> {
    const { carry, session, context, ref } = this.options;
    const name = nameOf(planned);
    const statement = carry.disableEvents === true ? (planned.disabled ?? planned.statement) : planned.statement;
    const fingerprint = fingerprintOf(planned, statement);
    if (known?.created === true && known.fingerprint === fingerprint && present !== undefined) return;
    let replaced = known?.replaced ?? null;
    const record = (change: Partial<CarriedObject>) => this.put({ ...name, fingerprint, created: false, adopted: false, replaced, ...change });
    // One that is there and not ours: before it goes, the journal has it.
    if (present !== undefined && (known === undefined || known.adopted)) {
      const there = await this.read(present);
      if (there !== undefined && sameObject(there, planned)) return await record({ created: true, adopted: true });
      if (known === undefined && carry.spec.options.existingTarget !== "replace")
        throw new DroverError("PREFLIGHT_FAILED", `${ref.target}: there is another ${objectLabel(name)} already`, { cure: 'drop it, or set options.existingTarget to "replace"' });
      replaced = there ?? null;
    }
    await record({});
    if (present !== undefined) await session.run(dropStatement(name));
    const detail = { migration: ref.migration, kind: name.kind, name: name.name };
    await context.hooks.at("object:before-create", detail);
    await this.creator.create(planned.object, planned.schema, statement);
    await context.hooks.at("object:after-create", detail);
    // The server drops an event at once whose time is over.
    if (name.kind === "event" && !(await this.onState((other) => listObjects(other, name.schema, ["event"]))).some((event) => event.name === name.name))
      this.notes.push(`the ${objectLabel(name)} was not created: its time is over`);
    await record({ created: true });
  }

  private async present(objects: readonly PlannedObject[]): Promise<Map<string, ListedObject>> {
    const found = new Map<string, ListedObject>();
    for (const schema of new Set(objects.map((planned) => planned.schema)))
      for (const object of await this.onState((session) => listObjects(session, schema, this.options.carry.kinds))) found.set(keyOf(object), object);
    return found;
  }

  private async read(listed: ListedObject): Promise<DatabaseObject | undefined> {
    return await this.onState(async (session) => {
      const [found] = await readObjects(session, [listed]);
      session.destroy();
      return found;
    });
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
