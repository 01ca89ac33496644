/** The report of a diff (contract §Diff), read from the state schema. */
import { DroverError } from "../errors.js";
import type { DiffReport, DiffSample, DiffState as State, DiffTableReport } from "../contracts/diff.js";
import type { Session } from "../mysql/session.js";
import type { DiffChunkTotals } from "./diff-chunks.js";
import type { StoredDifference } from "./diff-rows.js";
import { DiffState } from "./diff-state.js";
import type { DiffTable } from "./diff-tables.js";
import type { Diff } from "./diffs.js";
import { sampleKey, sampleValues, type ValueSessions } from "./diff-samples.js";
import { TableStore, type MigrationTable, type TableProgress } from "./tables.js";

export interface ReadReportOptions {
  /** Reads the samples' values from both servers, now; they may have changed since. */
  showValues?: ValueSessions;
}

export interface ListReportsOptions {
  /** Of the newest; default 100. A report costs several queries. */
  limit?: number | undefined;
  /** Only diffs in this state. */
  state?: State | undefined;
}

const MOST_LISTED = 100;

const KINDS = { mismatched: "mismatched", missing: "missingOnTarget", extra: "extraOnTarget", inconclusive: "inconclusive" } as const;

/**
 * The report of one diff; `last` is the newest.
 * @param session on the migration's target, where the state schema is
 * @throws DroverError NOT_FOUND
 */
export async function readDiffReport(session: Session, schema: string, migration: string, diffId: string, options: ReadReportOptions = {}): Promise<DiffReport> {
  const state = new DiffState(schema);
  const diff = diffId === "last" ? (await state.diffs.list(session, migration, 1))[0] : await state.diffs.require(session, migration, diffId);
  if (diff === undefined) throw new DroverError("NOT_FOUND", `migration ${migration} has no diff yet`, { cure: "`drover diff start` makes one" });
  return await reportOf(session, schema, migration, diff, await readNames(session, schema, migration), options);
}

/** The newest diffs of a migration, newest first, without samples. */
export async function listDiffReports(session: Session, schema: string, migration: string, { limit = MOST_LISTED, state }: ListReportsOptions = {}): Promise<DiffReport[]> {
  const diffs = await new DiffState(schema).diffs.list(session, migration, limit, state ?? null);
  const names = await readNames(session, schema, migration);
  const reports: DiffReport[] = [];
  for (const diff of diffs) reports.push(await reportOf(session, schema, migration, diff, names, { samples: false }));
  return reports;
}

/** Not the definitions: they are nearly all of a table's bytes, and only a differing table's is needed. */
async function readNames(session: Session, schema: string, migration: string): Promise<ReadonlyMap<number, TableProgress>> {
  return new Map((await new TableStore(schema).progress(session, migration)).map((table) => [table.number, table]));
}

async function reportOf(session: Session, schema: string, migration: string, diff: Diff, names: ReadonlyMap<number, TableProgress>, options: ReadReportOptions & { samples?: boolean }): Promise<DiffReport> {
  const state = new DiffState(schema);
  const tables = await state.tables.list(session, migration, diff.id);
  const totals = new Map((await state.chunks.totals(session, migration, diff.id)).map((t) => [t.table, t]));
  // Of hundreds of tables few differ, and whoever waits for a diff asks often.
  const differing = options.samples === false || diff.options.maxSamples === 0 ? new Set<number>() : await state.rows.tables(session, migration, diff.id);
  const reports: DiffTableReport[] = [];
  for (const table of tables) {
    const named = names.get(table.number);
    if (named === undefined) continue;
    const samples: DiffSample[] = [];
    const definition = differing.has(table.number) ? await new TableStore(schema).read(session, migration, table.number) : null;
    if (definition !== null) {
      const rows = await state.rows.samples(session, migration, diff.id, table.number, diff.options.maxSamples);
      samples.push(...rows.map((row) => sampleOf(definition, row, diff)));
      if (options.showValues !== undefined && !diff.options.onlyKeys) await addValues(options.showValues, definition, rows, samples);
    }
    reports.push(tableReport(diff, table, named, totals.get(table.number), samples));
  }
  const rate = diff.state === "running" ? await state.chunks.rate(session, migration, diff.id) : null;
  return {
    id: migration,
    diffId: diff.id,
    state: diff.state,
    hasMismatch: reports.some((t) => t.mismatched + t.missingOnTarget + t.extraOnTarget > 0),
    limited: diff.options.where !== null || diff.options.maxRows !== null || diff.options.maxDuration !== null,
    tables: reports,
    attempts: diff.attempts,
    lastError: diff.error,
    startedAt: diff.startedAt,
    completedAt: diff.completedAt,
    progress: progressOf(diff, tables, totals, rate),
  };
}

function sampleOf(table: MigrationTable, row: StoredDifference, diff: Diff): DiffSample {
  return { kind: KINDS[row.kind], key: sampleKey(table.definition, row.key), columns: diff.options.onlyKeys ? [] : row.columns };
}

async function addValues(sessions: ValueSessions, table: MigrationTable, rows: readonly StoredDifference[], samples: readonly DiffSample[]): Promise<void> {
  for (const [i, row] of rows.entries()) (samples[i] as DiffSample).values = await sampleValues(sessions, table, row.key);
}

function tableReport(diff: Diff, table: DiffTable, names: TableProgress, totals: DiffChunkTotals | undefined, samples: DiffSample[]): DiffTableReport {
  return {
    source: `${names.source.schema}.${names.source.table}`,
    target: `${names.target.schema}.${names.target.table}`,
    state: tableState(diff, table, totals),
    rowsCompared: totals?.rows ?? 0,
    matching: totals?.matching ?? 0,
    mismatched: totals?.mismatched ?? 0,
    missingOnTarget: totals?.missing ?? 0,
    extraOnTarget: totals?.extra ?? 0,
    inconclusive: totals?.inconclusive ?? 0,
    samples,
    ...(table.notes.length === 0 ? {} : { notes: table.notes }),
  };
}

function tableState(diff: Diff, table: DiffTable, totals: DiffChunkTotals | undefined): State {
  if (table.planned && (totals?.pending ?? 0) === 0) return (totals?.failed ?? 0) > 0 ? "failed" : "completed";
  if (diff.state !== "running") return diff.state;
  return totals === undefined ? "pending" : "running";
}

/** From finished chunks; the server's statistics count only for what is not cut yet. */
function progressOf(diff: Diff, tables: readonly DiffTable[], totals: ReadonlyMap<number, DiffChunkTotals>, rate: number | null): DiffReport["progress"] {
  if (diff.state === "completed") return { percent: 100, etaSeconds: 0 };
  let all = 0;
  let done = 0;
  for (const table of tables) {
    const t = totals.get(table.number);
    const planned = t?.rowsPlanned ?? 0;
    all += table.planned ? planned : Math.max(planned, diff.options.maxRows === null ? table.rowsEstimated : planned);
    done += t?.rowsDone ?? 0;
  }
  const percent = all === 0 ? 0 : Math.min(99.9, Math.floor((done / all) * 1000) / 10);
  return { percent, etaSeconds: rate === null ? null : Math.ceil((all - done) / rate) };
}
