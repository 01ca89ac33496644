/** Reads cut-overs from the state schema. */
import type { CutoverReport } from "../../shared/contracts/cutover.js";
import type { Connections } from "../../shared/mysql/connections.js";
import { cutoverReportOf } from "../../shared/state/cutover-report.js";
import type { State } from "../../shared/state/state.js";
import type { FoundMigration } from "./migration-finder.js";

export class CutoverReader {
  private readonly connections: Connections;
  private readonly state: State;

  constructor(options: { connections: Connections; state: State }) {
    this.connections = options.connections;
    this.state = options.state;
  }

  /** Null when there was none. */
  async read({ target, migration }: FoundMigration, signal: AbortSignal): Promise<CutoverReport | null> {
    const cutover = await this.connections.use(target, "target", signal, (session) => this.state.cutovers.read(session, migration.id));
    return cutover === null ? null : cutoverReportOf(migration.spec, cutover);
  }
}
