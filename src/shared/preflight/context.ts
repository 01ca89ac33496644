/** The shared picture that every check looks at: both servers, the tables, the state schema; each read once. */
import { isDeepStrictEqual } from "node:util";
import { readTableDefinition } from "../columns/read-table.js";
import type { TableDefinition } from "../columns/table-definition.js";
import type { Config } from "../config.js";
import type { MigrationSpec } from "../contracts/spec.js";
import { DroverError } from "../errors.js";
import type { Connections } from "../mysql/connections.js";
import type { SessionRole } from "../mysql/open-session.js";
import type { Session } from "../mysql/session.js";
import { resolveTables, type ResolvedTables } from "../selection/resolve-tables.js";
import type { SelectedTable } from "../selection/selected-table.js";
import { TargetClaims, type TakenTargets } from "../state/target-claims.js";
import { MigrationStore } from "../state/migrations.js";
import { readStateVersion } from "../state/schema.js";
import { checkFailed, type Finding } from "./finding.js";
import { readServerFacts, type ServerFacts } from "./server-facts.js";
import { readTargetTables, type TargetTable } from "./target-table.js";

export interface PreflightOptions {
  config: Config;
  connections: Connections;
  spec: MigrationSpec;
  stateSchema: string;
  signal: AbortSignal;
}

/** A selected table with what both servers say about it. */
export interface PlannedTable extends SelectedTable {
  /** Null when it could not be read: see `unreadable`. */
  definition: TableDefinition | null;
  unreadable: DroverError | null;
  /** Null when the target could not be asked. */
  existing: TargetTable | null;
}

export interface StateFacts {
  /** The state schema cannot be used: another version, or a migration that cannot be read. */
  problem: DroverError | null;
  /** A migration of this id is there, with the same spec: `start` is being repeated. */
  started: boolean;
  /** A migration of this id is there, with another spec. */
  conflict: boolean;
  taken: TakenTargets;
}

export interface PreflightContext {
  spec: MigrationSpec;
  stateSchema: string;
  config: Config;
  /** The mode reads the binlog. */
  follows: boolean;
  /** Null when the server could not be asked; why is in `unreachable`. */
  source: ServerFacts | null;
  target: ServerFacts | null;
  /** By connection name. */
  unreachable: ReadonlyMap<string, DroverError>;
  selection: ResolvedTables;
  tables: readonly PlannedTable[];
  state: StateFacts;
  /** What could not be read, though the servers answer. */
  unread: readonly Finding[];
  /** A session of its own for a check's further question; an error in it harms no other check. */
  onSource<T>(work: (session: Session) => Promise<T>): Promise<T>;
  onTarget<T>(work: (session: Session) => Promise<T>): Promise<T>;
}

/** How many tables are read at once. */
const READERS = 4;

export async function readContext(options: PreflightOptions): Promise<PreflightContext> {
  const { spec, connections, signal, stateSchema } = options;
  const unreachable = new Map<string, DroverError>();
  const on = (name: string, role: SessionRole) => <T>(work: (session: Session) => Promise<T>) => connections.use(name, role, signal, work);
  const onSource = on(spec.source, "source");
  const onTarget = on(spec.target, "target");
  const facts = async (name: string, use: typeof onSource): Promise<ServerFacts | null> => {
    try {
      return await use(readServerFacts);
    } catch (error) {
      unreachable.set(name, asDroverError(error, name));
      return null;
    }
  };
  const [source, target] = await Promise.all([facts(spec.source, onSource), facts(spec.target, onTarget)]);
  const unread: Finding[] = [];
  /** A question that a server refuses, or is too slow for, takes one part out of the picture, and is told. */
  const attempt = async <T>(what: string, work: () => Promise<T>, without: T): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      const known = asDroverError(error, what);
      if (known.code === "CONNECTION_LOST") throw known;
      unread.push(checkFailed(what, known));
      return without;
    }
  };
  const selection = source === null ? NOTHING : await attempt("the source's tables", () => onSource((session) => resolveTables(session, spec)), NOTHING);
  const [definitions, existing, state] = await Promise.all([
    inParallel(selection.tables, (table) => readDefinition(onSource, table)),
    target === null ? [] : attempt("the target's tables", () => readTargetTables(onTarget, target, selection.tables, spec), []),
    target === null ? NO_STATE : readState(onTarget, target, stateSchema, spec),
  ]);
  const tables = selection.tables.map((table, i): PlannedTable => ({ ...table, ...(definitions[i] as Definition), existing: existing[i] ?? null }));
  return { spec, stateSchema, config: options.config, follows: spec.mode !== "copy", source, target, unreachable, selection, tables, state, unread, onSource, onTarget };
}

const NOTHING: ResolvedTables = { tables: [], problems: [], passedOver: [] };

type Use = PreflightContext["onSource"];
type Definition = Pick<PlannedTable, "definition" | "unreadable">;

async function readDefinition(use: Use, table: SelectedTable): Promise<Definition> {
  try {
    return { definition: await use((session) => readTableDefinition(session, table.source.schema, table.source.table)), unreadable: null };
  } catch (error) {
    return { definition: null, unreadable: asDroverError(error, `${table.source.schema}.${table.source.table}`) };
  }
}

const NO_STATE: StateFacts = { problem: null, started: false, conflict: false, taken: { owner: () => null } };

async function readState(use: Use, target: ServerFacts, stateSchema: string, spec: MigrationSpec): Promise<StateFacts> {
  // Without the grant there is nothing to read, and the check of grants says so.
  if (!target.privileges.has("SELECT", { schema: stateSchema })) return NO_STATE;
  try {
    const version = await use((session) => readStateVersion(session, stateSchema));
    if (version === null) return NO_STATE;
    const known = await use((session) => new MigrationStore(stateSchema).read(session, spec.id));
    const taken = await use((session) => new TargetClaims(stateSchema).taken(session, spec.id));
    if (known === null) return { ...NO_STATE, taken };
    const started = isDeepStrictEqual(known.spec, spec);
    return { problem: null, started, conflict: !started, taken };
  } catch (error) {
    return { ...NO_STATE, problem: asDroverError(error, `the state schema ${stateSchema}`) };
  }
}

/** @throws what is an abort: it ends the whole preflight */
function asDroverError(error: unknown, what: string): DroverError {
  if (error instanceof DroverError) {
    if (error.kind === "aborted") throw error;
    return error;
  }
  return new DroverError("BUG", `${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const reader = async () => {
    for (const [i, item] of queue) results[i] = await work(item);
  };
  await Promise.all(Array.from({ length: READERS }, reader));
  return results;
}
