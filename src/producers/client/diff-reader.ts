/** Reads diffs and repairs from the state schema. */
import { diffId, type DiffOptions, type DiffReport, type DiffSchedule } from "../../shared/contracts/diff.js";
import { DroverError, bounded } from "../../shared/errors.js";
import type { Connections } from "../../shared/mysql/connections.js";
import type { Session } from "../../shared/mysql/session.js";
import { DiffScheduleStore, shownSchedule } from "../../shared/state/diff-schedules.js";
import { DiffState } from "../../shared/state/diff-state.js";
import { listDiffReports, readDiffReport, type ListReportsOptions } from "../../shared/state/diff-report.js";
import { readRepairReport, type RepairReport } from "../../shared/state/diff-repair-report.js";
import type { FoundMigration } from "./migration-finder.js";

export interface DiffReaderOptions {
  connections: Connections;
  stateSchema: string;
}

export class DiffReader {
  private readonly connections: Connections;
  private readonly schema: string;

  constructor(options: DiffReaderOptions) {
    this.connections = options.connections;
    this.schema = options.stateSchema;
  }

  /**
   * @param diff its id, or `last`
   * @param showValues reads the samples' values from both servers, as they are now
   * @throws DroverError SPEC_INVALID, NOT_FOUND
   */
  async read(found: FoundMigration, diff: string, showValues: boolean, signal: AbortSignal): Promise<DiffReport> {
    checkId(diff);
    const { id, spec } = found.migration;
    const { connections, schema } = this;
    if (!showValues) return await this.onState(found, signal, (session) => readDiffReport(session, schema, id, diff));
    return await this.onState(found, signal, (session) =>
      connections.use(found.target, "target", signal, (target) =>
        connections.use(spec.source, "source", signal, (source) => readDiffReport(session, schema, id, diff, { showValues: { source, target } })),
      ),
    );
  }

  /** Newest first, without samples. */
  async list(found: FoundMigration, options: ListReportsOptions, signal: AbortSignal): Promise<DiffReport[]> {
    return await this.onState(found, signal, (session) => listDiffReports(session, this.schema, found.migration.id, options));
  }

  /** The id that is meant: `last` is the newest. @throws DroverError SPEC_INVALID, NOT_FOUND */
  async resolve(found: FoundMigration, diff: string, signal: AbortSignal): Promise<string> {
    checkId(diff);
    if (diff !== "last") return diff;
    const [newest] = await this.onState(found, signal, (session) => new DiffState(this.schema).diffs.list(session, found.migration.id, 1));
    if (newest === undefined) throw new DroverError("NOT_FOUND", `migration ${found.migration.id} has no diff yet`, { cure: "`drover diff start` makes one" });
    return newest.id;
  }

  /** The state of a diff that is there already with these options; null for a new one. @throws DroverError DIFF_CONFLICT */
  async known(found: FoundMigration, diff: string, options: DiffOptions, signal: AbortSignal): Promise<DiffReport["state"] | null> {
    return await this.onState(found, signal, (session) => new DiffState(this.schema).diffs.known(session, found.migration.id, diff, options));
  }

  async schedules(found: FoundMigration, signal: AbortSignal): Promise<DiffSchedule[]> {
    const stored = await this.onState(found, signal, (session) => new DiffScheduleStore(this.schema).list(session, found.migration.id));
    return stored.map(shownSchedule);
  }

  /** The report of a diff's latest repair; null when there was none. @throws DroverError NOT_FOUND */
  async repair(found: FoundMigration, diff: string, signal: AbortSignal): Promise<RepairReport | null> {
    return await this.onState(found, signal, (session) => readRepairReport(session, this.schema, found.migration.id, diff));
  }

  private onState<T>(found: FoundMigration, signal: AbortSignal, work: (session: Session) => Promise<T>): Promise<T> {
    return this.connections.use(found.target, "target", signal, work);
  }
}

function checkId(diff: string): void {
  if (!diffId.safeParse(diff).success) throw new DroverError("SPEC_INVALID", `"${bounded(diff, 80)}" is no diff id`, { cure: "`drover diff list` names them; `last` is the newest" });
}
