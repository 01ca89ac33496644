/**
 * What the preflight looks at too, if there was one, asked again before anything is recorded, dropped or created: a job on the
 * queue `control` comes without, tables join later, and two names of one server look like two servers.
 */
import type { MigrationSpec } from "../../shared/contracts/spec.js";
import { DroverError } from "../../shared/errors.js";
import { readServerIdentity, sameServer } from "../../shared/mysql/server-identity.js";
import type { SelectedTable } from "../../shared/selection/selected-table.js";
import { ignoresCase } from "../../shared/selection/source-tables.js";
import { placeProblems } from "../../shared/selection/target-place.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { EngineContext } from "../context.js";

/**
 * @param tables those that are about to be recorded, created or renamed on the target
 * @param followed what the migration reads from already
 * @throws DroverError PREFLIGHT_FAILED with all problems
 */
export async function requireTargetPlace(context: EngineContext, spec: MigrationSpec, tables: readonly Pick<SelectedTable, "source" | "target">[], followed: readonly MigrationTable[], signal: AbortSignal): Promise<void> {
  if (tables.length === 0) return;
  const { connections, config } = context;
  const source = await connections.use(spec.source, "source", signal, async (session) => ({ identity: await readServerIdentity(session), ignoreCase: await ignoresCase(session) }));
  const target = await connections.use(spec.target, "target", signal, readServerIdentity);
  const problems = placeProblems({
    spec, tables, stateSchema: config.stateSchema, followed: followed.map((table) => table.source),
    sameServer: sameServer(source.identity, target), ignoreCase: source.ignoreCase,
  });
  if (problems.length === 0) return;
  throw new DroverError("PREFLIGHT_FAILED", problems.map((p) => p.message).join("; "), { problems, cure: problems[0]?.cure });
}
