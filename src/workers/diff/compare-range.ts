/**
 * Compares a key range: hash against hash; where they differ, part against part; where a part is small, row against row.
 * Rows that seem to differ are collected and rechecked together.
 *
 * Memory is bounded by two parts of `leafRows` keys and hashes, and by one batch of candidates.
 */
import { DroverError } from "../../shared/errors.js";
import type { KeyRange } from "../../shared/keys/key-predicate.js";
import type { DiffCounts } from "../../shared/state/diff-chunks.js";
import type { Difference } from "../../shared/state/diff-rows.js";
import { collationPairs } from "./collation-pairs.js";
import { cutRange } from "./cut-range.js";
import { differingColumns, type RowPair } from "./differing-columns.js";
import type { FenceWait } from "./fence-wait.js";
import { hashRange, sameRange, type RangeHashes } from "./range-hash.js";
import { recheck, type Verdict } from "./recheck.js";
import { rangeRowHashes } from "./row-hashes.js";
import type { Sides } from "./sides.js";
import type { Slots } from "./slots.js";
import type { Subject } from "./subject.js";
import type { DiffTuning } from "./tuning.js";

export interface ComparisonOptions {
  sides: Sides;
  subject: Subject;
  fence: FenceWait;
  slots: Slots;
  tuning: DiffTuning;
  /** Rows to expect in a range whose hash takes too long to be known. */
  rowsExpected: number;
  /** Do not look for the columns that differ. */
  onlyKeys: boolean;
  /** Most differing rows to remember. */
  keep: number;
  /** Called with every batch of confirmed differences, remembered or not. */
  onConfirmed?: (differences: Difference[]) => Promise<unknown>;
}

/** Statement time limits: 3024 (MySQL's max_execution_time), 1969 (MariaDB's max_statement_time). */
const TIME_LIMITS = new Set([3024, 1969]);

export class Comparison {
  readonly counts: DiffCounts = { rows: 0, matching: 0, mismatched: 0, missing: 0, extra: 0, inconclusive: 0 };
  /** The first differing rows. */
  readonly differences: Difference[] = [];
  private readonly options: ComparisonOptions;
  private candidates: string[] = [];

  constructor(options: ComparisonOptions) {
    this.options = options;
  }

  /** Compares the range to its end. @param hashes both sides' hashes, when they are known already */
  async compare(range: KeyRange, hashes?: RangeHashes): Promise<void> {
    await this.descend(range, hashes, this.options.rowsExpected);
    await this.recheck();
    const { counts } = this;
    counts.matching = counts.rows - counts.mismatched - counts.missing - counts.inconclusive;
  }

  private async descend(range: KeyRange, known: RangeHashes | undefined, rowsExpected: number): Promise<void> {
    const { sides, subject, tuning } = this.options;
    const hashes = known ?? (await this.hash(range));
    if (hashes === null) return this.compareParts(range, "source", Math.max(1, Math.ceil(rowsExpected / 8)), rowsExpected);
    const [source, target] = hashes;
    if (sameRange(hashes)) {
      this.counts.rows += source.rows;
      return;
    }
    const side = source.rows >= target.rows ? "source" : "target";
    const most = Math.max(source.rows, target.rows);
    if (most > tuning.leafRows) return this.compareParts(range, side, tuning.leafRows, most);
    const rows = await sides.both((s) => rangeRowHashes(sides, s, subject, range, 2 * tuning.leafRows));
    // It grew in the meantime: cut it.
    if (rows[0] === null || rows[1] === null) return this.compareParts(range, rows[0] === null ? "source" : "target", tuning.leafRows, most);
    await this.compareRows(rows[0], rows[1]);
  }

  private async compareParts(range: KeyRange, side: "source" | "target", rows: number, rowsExpected: number): Promise<void> {
    for await (const part of cutRange(this.options.sides, side, this.options.subject, range, rows)) {
      // A part that is the whole again is one that has no more rows than asked for: half of it is next.
      const whole = part.lower === range.lower && part.upper === range.upper;
      await this.descend(part, undefined, whole ? Math.ceil(rowsExpected / 8) : rows);
    }
  }

  /** Null when a server's time limit ended the statement: the range must be cut. */
  private async hash(range: KeyRange): Promise<RangeHashes | null> {
    try {
      return await hashRange(this.options.sides, this.options.subject, range);
    } catch (error) {
      if (isTimeLimit(error)) return null;
      throw error;
    }
  }

  private async compareRows(source: Map<string, string>, target: Map<string, string>): Promise<void> {
    this.counts.rows += source.size;
    for (const [key, hash] of source) {
      if (target.get(key) !== hash) await this.addCandidate(key);
      // What is left of the target's rows afterwards has no source row of the same key.
      target.delete(key);
    }
    for (const key of target.keys()) await this.addCandidate(key);
  }

  private async addCandidate(key: string): Promise<void> {
    this.candidates.push(key);
    if (this.candidates.length >= this.options.tuning.recheckBatch) await this.recheck();
  }

  private async recheck(): Promise<void> {
    if (this.candidates.length === 0) return;
    const keys = this.candidates;
    this.candidates = [];
    const { sides, subject, fence, slots, tuning, onlyKeys, keep, onConfirmed } = this.options;
    // Mostly waiting; its statements are look-ups of a few rows.
    const verdicts = await slots.idle(() => recheck(keys, { sides, subject, fence, rounds: tuning.recheckRounds }));
    const differences = await confirmedDifferences(sides, subject, verdicts);
    for (const difference of differences) this.counts[difference.kind] += 1;
    await onConfirmed?.(differences.filter((d) => d.kind !== "inconclusive"));
    const remembered = differences.slice(0, Math.max(0, keep - this.differences.length));
    if (!onlyKeys) await nameColumns(sides, subject, remembered);
    this.differences.push(...remembered.map(({ kind, key, columns }) => ({ kind, key, columns })));
  }
}

export function isTimeLimit(error: unknown): boolean {
  return error instanceof DroverError && error.errno !== undefined && TIME_LIMITS.has(error.errno);
}

interface ConfirmedDifference extends Difference {
  /** Of a mismatched row: its key on both sides. */
  pair: RowPair | null;
}

async function confirmedDifferences(sides: Sides, subject: Subject, verdicts: readonly Verdict[]): Promise<ConfirmedDifference[]> {
  const different = verdicts.filter((v) => v.kind === "different");
  const extra = new Set(different.filter((v) => v.source === null).map((v) => v.key));
  const pairs = await collationPairs(sides, subject, different.filter((v) => v.target === null).map((v) => v.key), extra);
  const bySource = new Map(pairs.map((pair) => [pair.source, pair]));
  const paired = new Set(pairs.map((pair) => pair.target));
  const found: ConfirmedDifference[] = [];
  for (const { key, kind, source, target } of verdicts) {
    const add = (k: Difference["kind"], pair: RowPair | null) => found.push({ kind: k, key: Buffer.from(key, "latin1"), columns: [], pair });
    if (kind === "inconclusive") add("inconclusive", null);
    else if (kind !== "different" || paired.has(key)) continue;
    else if (bySource.has(key)) add("mismatched", bySource.get(key) ?? null);
    else if (target === null) add("missing", null);
    else if (source === null) add("extra", null);
    else add("mismatched", { source: key, target: key });
  }
  return found;
}

async function nameColumns(sides: Sides, subject: Subject, differences: readonly ConfirmedDifference[]): Promise<void> {
  const mismatched = differences.filter((d) => d.pair !== null);
  const names = await differingColumns(sides, subject, mismatched.map((d) => d.pair as RowPair));
  for (const [i, difference] of mismatched.entries()) difference.columns = names[i] ?? [];
}
