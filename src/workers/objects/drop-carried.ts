/** Takes back what was created for a migration. */
import type { ObjectKind } from "../../shared/objects/database-object.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { withDdlLock } from "../target/ddl-lock.js";
import { dropStatement } from "./object-carrier.js";

/** Drops the objects of these kinds that were created for a migration; those that were there before stay. */
export async function dropCarried(context: EngineContext, ref: MigrationRef, kinds: readonly ObjectKind[], signal: AbortSignal): Promise<void> {
  const { connections, state } = context;
  await withDdlLock(context, ref, signal, async (session) => {
    const carried = (await state.objects.list(session, ref.migration)).filter((object) => object.kind !== "schema" && kinds.includes(object.kind));
    for (const object of carried) {
      if (!object.adopted && object.kind !== "schema") await session.run(dropStatement({ ...object, kind: object.kind }));
      await connections.use(ref.target, "target", signal, (other) => state.objects.remove(other, ref.migration, object));
    }
  });
}
