/**
 * Compares a key range: hash against hash; where they differ, part against part; where a part is small, row against row.
 * Rows that seem to differ are collected and rechecked together.
 *
 * Memory is bounded by two parts of twice `leafRows` keys and hashes, and by one batch of candidates.
 */
import type { KeyRange } from "../../shared/keys/key-predicate.js";
import type { DiffCounts } from "../../shared/state/diff-chunks.js";
import type { Difference } from "../../shared/state/diff-rows.js";
import { collationPairs } from "./collation-pairs.js";
import { cutRange } from "./cut-range.js";
import { differingColumns, type RowPair } from "./differing-columns.js";
import type { FenceWait } from "./fence-wait.js";
import type { HashPace } from "./pace.js";
import { hashRange, hashTime, sameRange, type RangeHashes } from "./range-hash.js";
import { recheck, type Verdict } from "./recheck.js";
import { rangeRowHashes, type RowHashes } from "./row-hashes.js";
import type { Sides } from "./sides.js";
import type { Slots } from "./slots.js";
import type { Subject } from "./subject.js";
import { isTimeLimit } from "../../shared/mysql/server-error.js";
import type { DiffTuning } from "./tuning.js";

export interface ComparisonOptions {
  sides: Sides;
  subject: Subject;
  fence: FenceWait;
  slots: Slots;
  tuning: DiffTuning;
  pace: HashPace;
  /** Do not look for the columns that differ. */
  onlyKeys: boolean;
  /** Most differing rows to remember. */
  keep: number;
  /** Called with every batch of confirmed differences, remembered or not. */
  onConfirmed?: (differences: Difference[]) => Promise<unknown>;
}

/** A statement over fewer rows has the session's own limit alone: there is hardly anything left to cut. */
const LEAST_ROWS = 64;
/** A range whose hash took too long is cut into so many parts. */
const PARTS = 8;

export class Comparison {
  readonly counts: DiffCounts = { rows: 0, matching: 0, mismatched: 0, missing: 0, extra: 0, inconclusive: 0 };
  /** The first differing rows. */
  readonly differences: Difference[] = [];
  /** What all hashes took together, in milliseconds. */
  hashMs = 0;
  private readonly options: ComparisonOptions;
  private candidates: string[] = [];

  constructor(options: ComparisonOptions) {
    this.options = options;
  }

  /**
   * Compares the range to its end.
   * @param rowsExpected how many rows may be in it, about
   * @param hashes both sides' hashes when they are known already; null when they would take too long
   */
  async compare(range: KeyRange, rowsExpected: number, hashes?: RangeHashes | null): Promise<void> {
    if (hashes === null) await this.compareParts(range, "source", this.partRows(rowsExpected), rowsExpected);
    else await this.descend(range, hashes, rowsExpected);
    await this.recheck();
    const { counts } = this;
    counts.matching = counts.rows - counts.mismatched - counts.missing - counts.inconclusive;
  }

  private async descend(range: KeyRange, known: RangeHashes | undefined, rowsExpected: number): Promise<void> {
    const { subject, tuning } = this.options;
    const hashes = known ?? (await this.hash(range, rowsExpected));
    if (hashes === null) return this.compareParts(range, "source", this.partRows(rowsExpected), rowsExpected);
    const [source, target] = hashes;
    if (sameRange(hashes)) {
      this.counts.rows += source.rows;
      return;
    }
    const side = source.rows >= target.rows ? "source" : "target";
    const most = Math.max(source.rows, target.rows);
    const leaf = leafRows(subject, tuning);
    if (most > leaf) return this.compareParts(range, side, leaf, most);
    const rows = await this.rows(range, 2 * leaf, most);
    if (rows === "slow") return this.compareParts(range, side, this.partRows(most), most);
    // It grew in the meantime: cut it.
    if (rows[0] === null || rows[1] === null) return this.compareParts(range, rows[0] === null ? "source" : "target", leaf, most);
    await this.compareRows(rows[0], rows[1]);
  }

  /** Rows of a part of a range of so many rows that takes too long as a whole. */
  private partRows(rowsExpected: number): number {
    const { tuning, pace, subject } = this.options;
    return Math.max(1, Math.min(Math.ceil(rowsExpected / 2), Math.max(Math.ceil(rowsExpected / PARTS), pace.rowsWithin(subject.name, tuning.statementTime))));
  }

  private async compareParts(range: KeyRange, side: "source" | "target", rows: number, rowsExpected: number): Promise<void> {
    const { sides, subject, tuning } = this.options;
    for await (const part of cutRange(sides, side, subject, range, rows, tuning.statementLimit)) {
      // A part that is the whole again is one that has no more rows than asked for: a part of it is next.
      const whole = part.lower === range.lower && part.upper === range.upper;
      await this.descend(part, undefined, whole ? Math.ceil(rowsExpected / PARTS) : rows);
    }
  }

  /** Null when a server's time limit ended the statement: the range must be cut. */
  async hash(range: KeyRange, rowsExpected: number): Promise<RangeHashes | null> {
    const { sides, subject, tuning, pace } = this.options;
    const began = performance.now();
    try {
      const hashes = await hashRange(sides, subject, range, rowsExpected > LEAST_ROWS ? tuning.statementLimit : null);
      this.hashMs += hashTime(hashes);
      pace.record(subject.name, hashes[0].rows, hashTime(hashes));
      return hashes;
    } catch (error) {
      if (!isTimeLimit(error) || rowsExpected <= 1) throw error;
      this.hashMs += performance.now() - began;
      pace.record(subject.name, rowsExpected, performance.now() - began);
      return null;
    }
  }

  /** Both sides' rows of a range; `slow` when a server's time limit ended the statement. */
  private async rows(range: KeyRange, most: number, rowsExpected: number): Promise<[RowHashes | null, RowHashes | null] | "slow"> {
    const { sides, subject, tuning } = this.options;
    try {
      return await sides.both((side) => rangeRowHashes(sides, side, subject, range, { rows: most, time: rowsExpected > LEAST_ROWS ? tuning.statementLimit : null }));
    } catch (error) {
      if (!isTimeLimit(error) || rowsExpected <= 1) throw error;
      return "slow";
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

/** Rows that are compared one by one at once: few enough for the memory, and for the time of a statement. */
function leafRows(subject: Subject, tuning: DiffTuning): number {
  const size = subject.source.rowBytesEstimated;
  return size > 0 ? Math.max(1, Math.min(tuning.leafRows, Math.floor(tuning.firstBytes / size))) : tuning.leafRows;
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
