/**
 * All that the client reads from MySQL. Loaded when it is first needed, so that a service that only enqueues never
 * loads a MySQL driver.
 */
import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import { underAny } from "../../shared/abort.js";
import type { Config } from "../../shared/config.js";
import type { MigrationSpec } from "../../shared/contracts/spec.js";
import type { Phase } from "../../shared/contracts/status.js";
import { Connections } from "../../shared/mysql/connections.js";
import { runPreflight, type Finding } from "../../shared/preflight/index.js";
import { recordMigration } from "../../shared/state/record-migration.js";
import { State } from "../../shared/state/state.js";
import { CutoverReader } from "./cutover-reader.js";
import { DiffReader } from "./diff-reader.js";
import { MigrationFinder } from "./migration-finder.js";
import { SourcePositions } from "./source-positions.js";
import { StatusReader, type StatusReaderOptions } from "./status-reader.js";

export class StateView {
  readonly finder: MigrationFinder;
  readonly sources: SourcePositions;
  readonly statuses: StatusReader;
  readonly diffs: DiffReader;
  readonly cutovers: CutoverReader;
  private readonly config: Config;
  private readonly connections: Connections;
  private readonly state: State;
  private readonly ending = new AbortController();

  constructor(options: { config: Config } & Pick<StatusReaderOptions, "backlog" | "workerPresent">) {
    const { config } = options;
    this.config = config;
    setMaxListeners(0, this.ending.signal);
    // Not `w-…`: such sessions are a worker's, and are ended when no worker of that name lives.
    const connections = new Connections({ config, worker: `c-${process.pid}-${randomBytes(3).toString("hex")}` });
    const state = new State(config.stateSchema);
    this.connections = connections;
    this.state = state;
    this.finder = new MigrationFinder({ connections, state, names: [...config.connections.keys()], ending: this.ending.signal });
    this.sources = new SourcePositions(connections);
    this.statuses = new StatusReader({ connections, state, sources: this.sources, backlog: options.backlog, workerPresent: options.workerPresent });
    this.diffs = new DiffReader({ connections, stateSchema: config.stateSchema });
    this.cutovers = new CutoverReader({ connections, state });
  }

  async preflight(spec: MigrationSpec, signal: AbortSignal): Promise<Finding[]> {
    return await runPreflight({ config: this.config, connections: this.connections, spec, stateSchema: this.config.stateSchema, signal });
  }

  /** Records a start that no worker is there to take up; its phase if it was there. @throws DroverError MIGRATION_CONFLICT, STATE_VERSION, or what the target refuses */
  async record(specInput: unknown, spec: MigrationSpec, signal: AbortSignal): Promise<Phase | null> {
    return await this.connections.use(spec.target, "target", signal, (session) => recordMigration(session, this.state, specInput, spec));
  }

  /** Runs `work` with the caller's signal, which also fires when the client is closed. */
  async during<T>(given: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return given === undefined ? await work(this.ending.signal) : await underAny([given, this.ending.signal], work);
  }

  close(): void {
    this.ending.abort(new Error("the client was closed"));
    this.connections.close();
  }
}
