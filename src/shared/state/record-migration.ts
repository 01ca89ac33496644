/** A start, recorded: from here on the migration is in the state schema, and whatever happens to Redis it is worked on (promises 3 and 4). */
import { isDeepStrictEqual } from "node:util";
import type { MigrationSpec } from "../contracts/spec.js";
import type { Phase } from "../contracts/status.js";
import { DroverError } from "../errors.js";
import type { Session } from "../mysql/session.js";
import { ensureStateSchema } from "./schema.js";
import type { State } from "./state.js";

/**
 * Records a migration. The same id with the same spec is the same migration.
 * @param session on the spec's target
 * @param specInput the spec as it was written: defaults of a later version must not change it
 * @returns its phase, when it was there already; null for a new one
 * @throws DroverError MIGRATION_CONFLICT, STATE_VERSION
 */
export async function recordMigration(session: Session, state: State, specInput: unknown, spec: MigrationSpec): Promise<Phase | null> {
  await ensureStateSchema(session, state.schema);
  if (await state.migrations.create(session, specInput, spec)) return null;
  const known = await state.migrations.require(session, spec.id);
  if (!isDeepStrictEqual(known.spec, spec)) throw migrationConflict(spec.id);
  return known.phase;
}

export function migrationConflict(id: string): DroverError {
  return new DroverError("MIGRATION_CONFLICT", `there is a migration "${id}" with another spec`, { cure: `choose another id, or end the old one: \`drover stop ${id}\` and \`drover remove ${id}\`` });
}
