/**
 * Which server holds a migration: the state schemas of all configured connections are asked at once. The first that has
 * it ends the search, so one that is down costs nothing unless the migration is nowhere else.
 */
import { throwIfAborted, underAny, within } from "../../shared/abort.js";
import { migrationId } from "../../shared/contracts/spec.js";
import { DroverError, bounded, type Problem } from "../../shared/errors.js";
import type { Connections } from "../../shared/mysql/connections.js";
import type { Session } from "../../shared/mysql/session.js";
import type { Migration } from "../../shared/state/migrations.js";
import { readStateVersion } from "../../shared/state/schema.js";
import type { State } from "../../shared/state/state.js";

/** How long a server may take to answer, in milliseconds. */
const PATIENCE = 4_000;

export interface FoundMigration {
  /** The connection whose state schema holds it. */
  target: string;
  migration: Migration;
}

export interface Search<T> {
  found: T;
  /** Connections that could not be asked: what they hold is unknown. */
  unreachable: { connection: string; error: DroverError }[];
}

export interface MigrationFinderOptions {
  connections: Connections;
  state: State;
  /** Names of the connections to look at. */
  names: readonly string[];
  /** Ends lookups that nobody waits for any more. */
  ending: AbortSignal;
}

export class MigrationFinder {
  private readonly connections: Connections;
  private readonly state: State;
  private readonly names: readonly string[];
  private readonly ending: AbortSignal;

  constructor(options: MigrationFinderOptions) {
    this.connections = options.connections;
    this.state = options.state;
    this.names = options.names;
    this.ending = options.ending;
  }

  /** @throws DroverError SPEC_INVALID (no id at all), CONFIG_INVALID (no connections), ABORTED */
  async find(migration: string, signal: AbortSignal): Promise<Search<FoundMigration | null>> {
    if (!migrationId.safeParse(migration).success) throw new DroverError("SPEC_INVALID", `"${bounded(migration, 80)}" is no migration id`, { cure: "an id has 1 to 64 of a-z, 0-9, _ and -" });
    let hit = (_found: FoundMigration): void => undefined;
    const first = new Promise<FoundMigration>((resolve) => (hit = resolve));
    const nowhere = this.everywhere(signal, async (session, target) => {
      const record = await this.state.migrations.read(session, migration);
      if (record !== null && belongs(record, target)) hit({ target, migration: record });
    });
    // The other lookups end by themselves, within their limit or with the client.
    const found = await Promise.race([first, nowhere.then((unreachable) => ({ unreachable }))]);
    throwIfAborted(signal);
    return "unreachable" in found ? { found: null, unreachable: found.unreachable } : { found, unreachable: [] };
  }

  /** All migrations, oldest first. @throws DroverError CONFIG_INVALID (no connections), ABORTED */
  async list(signal: AbortSignal): Promise<Search<FoundMigration[]>> {
    const found: FoundMigration[] = [];
    const unreachable = await this.everywhere(signal, async (session, target) => {
      const records = await this.state.migrations.list(session);
      found.push(...records.filter((record) => belongs(record, target)).map((migration) => ({ target, migration })));
    });
    throwIfAborted(signal);
    found.sort((a, b) => a.migration.startedAt.localeCompare(b.migration.startedAt) || a.migration.id.localeCompare(b.migration.id));
    return { found, unreachable };
  }

  private async everywhere(signal: AbortSignal, look: (session: Session, target: string) => Promise<void>): Promise<Search<never>["unreachable"]> {
    if (this.names.length === 0)
      throw new DroverError("CONFIG_INVALID", "no connection is configured, so there is no server to look at", { cure: "set DROVER_CONNECTION_<NAME>=mysql://user:password@host:port/" });
    const unreachable: Search<never>["unreachable"] = [];
    await Promise.all(
      this.names.map((target) =>
        underAny([signal, this.ending], (joint) =>
          within(PATIENCE, joint, async (limited, isLate) => {
            try {
              await this.connections.use(target, "target", limited, async (session) => {
                if ((await readStateVersion(session, this.state.schema)) !== null) await look(session, target);
              });
            } catch (error) {
              if (joint.aborted) return;
              unreachable.push({ connection: target, error: searchError(target, error, isLate()) });
            }
          }),
        ),
      ),
    );
    return unreachable;
  }
}

/** The error of a migration that was found nowhere. */
export function notFound(migration: string, unreachable: Search<unknown>["unreachable"]): DroverError {
  if (unreachable.length === 0)
    return new DroverError("NOT_FOUND", `there is no migration "${migration}" on any configured server`, { cure: "`drover status` lists the known ones; the target must be among the connections (DROVER_CONNECTION_…)" });
  const problems: Problem[] = unreachable.map(({ connection, error }) => ({
    code: `connection-${connection}`, message: error.message, cure: error.cure ?? `check DROVER_CONNECTION_${connection} and that server`,
  }));
  // When a server of another version or with a wrong password is the reason, that is what must be said.
  const code = unreachable.every(({ error }) => error.code === "CONNECTION_LOST") ? "CONNECTION_LOST" : (unreachable[0] as { error: DroverError }).error.code;
  const names = unreachable.map(({ connection }) => connection).join(", ");
  const what = unreachable.every(({ error }) => error.code === "CONNECTION_LOST") ? "did not answer" : "could not be asked";
  return new DroverError(code, `${names} ${what}, and no other server holds the migration "${migration}": nothing was changed; try again when ${unreachable.length === 1 ? "it answers" : "they answer"}`, { problems });
}

/** A server may be known under two names: only the one that the spec calls its target counts, as for the reconciler. */
function belongs(migration: Migration, target: string): boolean {
  return migration.spec.target.toUpperCase() === target.toUpperCase();
}

function searchError(target: string, error: unknown, late: boolean): DroverError {
  if (late) return new DroverError("CONNECTION_LOST", `${target}: no answer within ${PATIENCE / 1000} s`);
  return error instanceof DroverError ? error : new DroverError("BUG", `${target}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}
