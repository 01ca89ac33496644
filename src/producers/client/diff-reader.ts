/** Reads diffs from the state schema. */
import type { DiffReport } from "../../shared/contracts/diff.js";
import { DroverError } from "../../shared/errors.js";
import type { Connections } from "../../shared/mysql/connections.js";
import type { Session } from "../../shared/mysql/session.js";
import { DiffState } from "../../shared/state/diff-state.js";
import type { Diff } from "../../shared/state/diffs.js";
import type { State } from "../../shared/state/state.js";
import type { FoundMigration } from "./migration-finder.js";
import { diffReport } from "./diff-report.js";

export interface DiffReaderOptions {
  connections: Connections;
  state: State;
}

export class DiffReader {
  private readonly connections: Connections;
  private readonly state: State;
  private readonly diffs: DiffState;

  constructor(options: DiffReaderOptions) {
    this.connections = options.connections;
    this.state = options.state;
    this.diffs = new DiffState(options.state.schema);
  }

  /** @param diff its id, or `last` @throws DroverError NOT_FOUND */
  async read(found: FoundMigration, diff: string, signal: AbortSignal): Promise<DiffReport> {
    return await this.connections.use(found.target, "target", signal, async (session) => {
      const record = diff === "last" ? await this.latest(session, found.migration.id) : await this.diffs.diffs.require(session, found.migration.id, diff);
      return await this.report(session, found.migration.id, record, record.options.maxSamples);
    });
  }

  /** Newest first, without samples. */
  async list(found: FoundMigration, signal: AbortSignal): Promise<DiffReport[]> {
    return await this.connections.use(found.target, "target", signal, async (session) => {
      const reports: DiffReport[] = [];
      for (const record of await this.diffs.diffs.list(session, found.migration.id)) reports.push(await this.report(session, found.migration.id, record, 0));
      return reports;
    });
  }

  private async latest(session: Session, migration: string): Promise<Diff> {
    const [record] = await this.diffs.diffs.list(session, migration);
    if (record) return record;
    throw new DroverError("NOT_FOUND", `migration ${migration} has no diff yet`, { cure: `start one with \`drover diff start ${migration}\`` });
  }

  private async report(session: Session, migration: string, diff: Diff, samples: number): Promise<DiffReport> {
    const tables = new Map((await this.state.tables.list(session, migration)).map((t) => [t.number, t]));
    const totals = new Map((await this.diffs.chunks.totals(session, migration, diff.id)).map((t) => [t.table, t]));
    const rowsPerSecond = diff.state === "running" ? await this.diffs.chunks.rate(session, migration, diff.id) : null;
    const records = [];
    for (const record of await this.diffs.tables.list(session, migration, diff.id)) {
      const rows = await this.diffs.rows.samples(session, migration, diff.id, record.number, samples);
      records.push({ record, table: tables.get(record.number), totals: totals.get(record.number), samples: rows });
    }
    return diffReport({ migration, diff, tables: records, rowsPerSecond });
  }
}
