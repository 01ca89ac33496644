/**
 * Repairs the confirmed differences of a diff, a few rows at a time, and rechecks them. Chunks with more differences than
 * were stored are compared again, and what is confirmed then is repaired on the way.
 */
import { DroverError, errorRecord } from "../../shared/errors.js";
import { copiedColumns } from "../../shared/columns/table-definition.js";
import { keyOfTable } from "../../shared/keys/key-columns.js";
import type { DifferentChunk } from "../../shared/state/diff-chunks.js";
import type { RepairReport } from "../../shared/state/diff-repair-report.js";
import type { Difference } from "../../shared/state/diff-rows.js";
import { sampleKey } from "../../shared/state/diff-samples.js";
import { comparisonOf, type ChunkWork } from "./compare-chunk.js";
import { FenceWait } from "./fence-wait.js";
import { recheck } from "./recheck.js";
import { repairRows, requireUnaltered } from "./repair-rows.js";

/** Actions listed in a report. */
const MOST_ACTIONS = 1_000;
/** How often rows are written again that the recheck finds different still. */
const TRIES = 3;
/** Bytes of rows that are read for one repair transaction, as the server estimates them. */
const BATCH_BYTES = 4 * 1024 * 1024;

export class DiffRepair {
  readonly report: RepairReport;
  private readonly workOf: (table: number) => ChunkWork | null;
  private readonly save: (report: RepairReport) => Promise<void>;

  /** @param options.workOf what a chunk of the table is compared with; null when the table is not the migration's any more */
  constructor(options: { report: RepairReport; workOf: (table: number) => ChunkWork | null; save: (report: RepairReport) => Promise<void> }) {
    this.report = options.report;
    this.workOf = options.workOf;
    this.save = options.save;
  }

  async run(chunks: readonly DifferentChunk[]): Promise<void> {
    for (const chunk of chunks) {
      const work = this.workOf(chunk.table);
      if (work === null) continue;
      await this.repairChunk(work, chunk).catch((error: unknown) => blame(work, error));
      await this.save(this.report);
    }
  }

  private async repairChunk(work: ChunkWork, chunk: DifferentChunk): Promise<void> {
    const { state, ref, diffId } = work;
    if (work.subject.source.key === null) {
      const { schema, table } = work.subject.target;
      this.report.refused += chunk.differences;
      this.report.error = errorRecord(new DroverError("STATEMENT_REFUSED", `${schema}.${table} has no key, so that no row of it can be repaired`, { cure: "remove the migration, and start one of this table alone with existingTarget \"replace\"" }));
      return;
    }
    if (chunk.refused !== null) {
      this.report.refused += chunk.differences;
      this.report.error = chunk.refused;
      return;
    }
    const stored = await work.sides.state((session) => state.rows.ofChunk(session, ref.migration, diffId, chunk.table, chunk.number));
    const confirmed = stored.filter((row) => row.kind !== "inconclusive");
    if (confirmed.length < chunk.differences) {
      const comparison = comparisonOf({ ...work, options: { ...work.options, onlyKeys: true } }, { onConfirmed: (differences) => this.repairAll(work, differences) });
      await comparison.compare({ lower: chunk.lower, upper: chunk.upper }, chunk.rowsPlanned);
      return;
    }
    // What was repaired before an interruption is not done again.
    const open = confirmed.filter((row) => !row.repaired);
    const healed = await this.repairAll(work, open);
    if (healed.size === 0) return;
    const numbers = open.filter((row) => healed.has(row.key.toString("latin1"))).map((row) => row.number);
    await work.sides.state((session) => state.rows.markRepaired(session, ref.migration, diffId, chunk.table, chunk.number, numbers));
  }

  /** Returns the keys that are equal now. */
  private async repairAll(work: ChunkWork, differences: readonly Difference[]): Promise<Set<string>> {
    const healed = new Set<string>();
    const size = work.subject.source.rowBytesEstimated;
    const perBatch = Math.max(1, Math.min(work.tuning.repairRows, size > 0 ? Math.floor(BATCH_BYTES / size) : work.tuning.repairRows));
    for (let i = 0; i < differences.length; i += perBatch) {
      const batch = differences.slice(i, i + perBatch);
      for (const difference of batch) this.list(work, difference);
      if (!this.report.dryRun) for (const key of await this.repairBatch(work, batch.map((d) => d.key.toString("latin1")))) healed.add(key);
    }
    return healed;
  }

  private async repairBatch(work: ChunkWork, keys: readonly string[]): Promise<string[]> {
    const { context, ref, sides, subject, tuning } = work;
    const fence = new FenceWait({ context, ref, sides, patience: tuning.fencePatience });
    const healed: string[] = [];
    const touched = new Set<string>();
    let open = [...keys];
    for (let attempt = 1; open.length > 0; attempt++) {
      for (const key of await this.write(work, open)) touched.add(key);
      const left: string[] = [];
      for (const verdict of await recheck(open, { sides, subject, fence, rounds: tuning.recheckRounds })) {
        if (verdict.kind === "equal") {
          if (touched.has(verdict.key)) this.report.repaired += 1;
          else this.report.equal += 1;
          healed.push(verdict.key);
        } else if (verdict.kind === "inconclusive") this.report.inconclusive += 1;
        else if (attempt >= TRIES) this.report.refused += 1;
        else left.push(verdict.key);
      }
      open = left;
    }
    return healed;
  }

  /** A row that the target refuses must not keep the others from being repaired: they are written one by one then. */
  private async write(work: ChunkWork, keys: readonly string[]): Promise<string[]> {
    try {
      return await repairRows(work, keys);
    } catch (error) {
      if (!(error instanceof DroverError) || error.kind !== "fatal") throw error;
      await work.sides.use("target", (session) => requireUnaltered(session, work));
      if (keys.length === 1) {
        this.report.error = errorRecord(error);
        return [];
      }
      const touched: string[] = [];
      for (const key of keys) touched.push(...(await this.write(work, [key])));
      return touched;
    }
  }

  private list(work: ChunkWork, difference: Difference): void {
    if (this.report.actions.length >= MOST_ACTIONS) {
      this.report.actionsLeftOut += 1;
      return;
    }
    const { source, target } = work.subject;
    const key = keyOfTable(target).columns;
    const name = `\`${target.schema.replaceAll("`", "``")}\`.\`${target.table.replaceAll("`", "``")}\``;
    const quote = (column: string) => `\`${column.replaceAll("`", "``")}\``;
    const columns = copiedColumns(source);
    const action = difference.kind === "extra" ? "delete" : "replace";
    this.report.actions.push({
      table: `${target.schema}.${target.table}`,
      action,
      key: sampleKey(target, difference.key),
      statement: action === "delete" ? `DELETE FROM ${name} WHERE ${key.map((c) => `${quote(c.column.name)} = ?`).join(" AND ")}` : `REPLACE INTO ${name} (${columns.map((c) => quote(c.name)).join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
    });
  }
}

/** Of a table that was altered meanwhile a refusal says nothing: it was asked for columns that it has no more. @throws the error, or TABLE_CHANGED */
async function blame(work: ChunkWork, error: unknown): Promise<never> {
  if (error instanceof DroverError && error.kind === "fatal") await work.sides.use("target", (session) => requireUnaltered(session, work));
  throw error;
}
