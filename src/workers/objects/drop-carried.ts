/** Takes back what was created for a migration. */
import { DroverError } from "../../shared/errors.js";
import type { ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import { objectLabel, type DatabaseObject, type ObjectKind, type ObjectName } from "../../shared/objects/database-object.js";
import type { CarriedObject } from "../../shared/state/objects.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { withDdlLock } from "../target/ddl-lock.js";
import { ObjectCreator, dropStatement } from "./object-creator.js";

export interface DropOptions {
  kinds: readonly ObjectKind[];
  /** Asked under the lock: whether this is still to be done. */
  isDue(session: Session): Promise<boolean>;
}

/**
 * Drops the objects of these kinds that were created for a migration. Those that were there before stay, and what they took the
 * place of is created again. May be done twice.
 * @returns what there is to say of it
 */
export async function dropCarried(context: EngineContext, ref: MigrationRef, { kinds, isDue }: DropOptions, signal: AbortSignal): Promise<string[]> {
  const { state } = context;
  const notes: string[] = [];
  const carried = await withDdlLock(context, ref, signal, async (session) => {
    if (!(await isDue(session))) return [];
    const found = (await state.objects.list(session, ref.migration)).filter((object) => object.kind !== "schema" && kinds.includes(object.kind));
    for (const object of found) {
      if (object.adopted) notes.push(`the ${objectLabel(nameOf(object))} was there before, and stays: it acts on what is applied`);
      else await session.run(dropStatement(nameOf(object)));
      if (object.replaced === null) await forget(context, ref, object, signal);
    }
    return found;
  });
  for (const object of carried) {
    const { replaced } = object;
    if (replaced === null) continue;
    try {
      // A lock for each: a session that was refused a statement is gone.
      await withDdlLock(context, ref, signal, async (session) => {
        if (!(await isDue(session))) return;
        await restore(context, ref, session, { name: nameOf(object), object: replaced }, signal);
        await forget(context, ref, object, signal);
      });
    } catch (error) {
      if (!(error instanceof DroverError) || error.code !== "STATEMENT_REFUSED") throw error;
      notes.push(`${error.message}; it was there before, and was replaced: its text is in the table objects of the state schema ${state.schema}`);
    }
  }
  return notes;
}

async function restore(context: EngineContext, ref: MigrationRef, session: Session, { name, object }: { name: ObjectName; object: DatabaseObject }, signal: AbortSignal): Promise<void> {
  const creator = new ObjectCreator({ context, ref, session, signal });
  await creator.begin(await context.state.objects.list(session, ref.migration));
  // Whoever died here may have created it.
  await session.run(dropStatement(name));
  await creator.create(object, name.schema, object.text as ByteSql);
}

async function forget({ connections, state }: EngineContext, ref: MigrationRef, object: CarriedObject, signal: AbortSignal): Promise<void> {
  await connections.use(ref.target, "target", signal, (session) => state.objects.remove(session, ref.migration, object));
}

function nameOf({ kind, schema, name }: CarriedObject): ObjectName {
  return { kind: kind as ObjectKind, schema, name };
}
