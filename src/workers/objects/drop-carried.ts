/** Takes back what was created for a migration. */
import { objectLabel, type ObjectKind } from "../../shared/objects/database-object.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { withDdlLock } from "../target/ddl-lock.js";
import { dropStatement } from "./object-carrier.js";

/**
 * Drops the objects of these kinds that were created for a migration; those that were there before stay.
 * @returns the labels of those that stay
 */
export async function dropCarried(context: EngineContext, ref: MigrationRef, kinds: readonly ObjectKind[], signal: AbortSignal): Promise<string[]> {
  const { connections, state } = context;
  return await withDdlLock(context, ref, signal, async (session) => {
    const carried = (await state.objects.list(session, ref.migration)).filter((object) => object.kind !== "schema" && kinds.includes(object.kind));
    const kept: string[] = [];
    for (const object of carried) {
      if (object.kind === "schema") continue;
      const name = { ...object, kind: object.kind };
      if (object.adopted) kept.push(objectLabel(name));
      else await session.run(dropStatement(name));
      await connections.use(ref.target, "target", signal, (other) => state.objects.remove(other, ref.migration, object));
    }
    return kept;
  });
}
