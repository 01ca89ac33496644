/**
 * One chunk of a diff: the steps of design §6. Whatever happens, the chunk's result is recorded once, as one row, or not
 * at all; an attempt that was interrupted leaves nothing.
 */
import type { ByteSql } from "../../shared/mysql/bytes.js";
import type { KeyRange } from "../../shared/keys/key-predicate.js";
import type { DiffChunk } from "../../shared/state/diff-chunks.js";
import type { DiffState } from "../../shared/state/diff-state.js";
import type { DiffOptions } from "../../shared/contracts/diff.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { Comparison } from "./compare-range.js";
import { compareWhole } from "./compare-whole.js";
import { boundaryKey } from "./cut-range.js";
import { FenceWait } from "./fence-wait.js";
import type { HashPace } from "./pace.js";
import { hashRange, hashTime, sameRange, type RangeHashes } from "./range-hash.js";
import type { Sides } from "./sides.js";
import type { Slots } from "./slots.js";
import type { Subject } from "./subject.js";
import type { DiffTuning } from "./tuning.js";

export interface ChunkWork {
  context: EngineContext;
  state: DiffState;
  tuning: DiffTuning;
  ref: MigrationRef;
  diffId: string;
  options: DiffOptions;
  subject: Subject;
  sides: Sides;
  pace: HashPace;
  /** The caller has one of them. */
  slots: Slots;
}

const BEGIN = "BEGIN" as ByteSql;
const COMMIT = "COMMIT" as ByteSql;

export type ChunkOutcome = "equal" | "different" | "void";

/** @returns `void` when another worker recorded the chunk, or the diff was deleted */
export async function compareChunk(work: ChunkWork, chunk: DiffChunk): Promise<ChunkOutcome> {
  const began = performance.now();
  if (work.subject.source.key === null) return await compareKeyless(work, chunk, began);
  const comparison = comparisonOf(work);
  const { range, hashes } = await firstHash(work, chunk, comparison);
  await comparison.compare(range, chunk.rowsPlanned, hashes);
  return await record(work, chunk, comparison, { hashes, began });
}

/** A table without a key cannot be cut: one hash over all of it, and when that differs, row by row as a multiset. */
async function compareKeyless(work: ChunkWork, chunk: DiffChunk, began: number): Promise<ChunkOutcome> {
  const { context, ref, sides, subject, tuning } = work;
  const hashes = await hashRange(sides, subject, { lower: null, upper: null }, null);
  const hashMs = hashTime(hashes);
  if (sameRange(hashes)) {
    const { rows } = hashes[0];
    const counts = { rows, matching: rows, mismatched: 0, missing: 0, extra: 0, inconclusive: 0 };
    return await record(work, chunk, { counts, differences: [], hashMs }, { hashes, began });
  }
  const fence = new FenceWait({ context, ref, sides, patience: tuning.fencePatience });
  const counts = await compareWhole({ sides, subject, fence, rounds: tuning.recheckRounds, most: tuning.wholeRows });
  return await record(work, chunk, { counts, differences: [], hashMs }, { hashes, began });
}

/** A comparison with what the work gives: also for repairs. */
export function comparisonOf(work: ChunkWork, more: Pick<ConstructorParameters<typeof Comparison>[0], "onConfirmed"> = {}): Comparison {
  const { context, ref, sides, slots, subject, tuning, options, pace } = work;
  const fence = new FenceWait({ context, ref, sides, patience: tuning.fencePatience });
  return new Comparison({ sides, subject, fence, slots, tuning, pace, onlyKeys: options.onlyKeys, keep: Math.max(options.maxSamples, tuning.storedRows), ...more });
}

/** How much longer than `statementTime` a chunk's hash may be expected to take before it is compared in parts. */
const TOLERANCE = 1.6;

/** Hashes are null when they would take too long, or a server's time limit ended the statement: then the range is compared in parts. */
async function firstHash(work: ChunkWork, chunk: DiffChunk, comparison: Comparison): Promise<{ range: KeyRange; hashes: RangeHashes | null }> {
  const { options, pace, subject, tuning, sides } = work;
  const whole: KeyRange = { lower: chunk.lower, upper: chunk.upper };
  const slow = chunk.rowsPlanned > pace.rowsWithin(subject.name, tuning.statementTime * TOLERANCE);
  // Rows that came after the chunk was cut must not make a limited diff compare more than its limit (case 15).
  const atMost = async (range: KeyRange): Promise<KeyRange> => {
    const upper = await boundaryKey(sides, "source", subject, { after: range.lower, upTo: range.upper, rows: chunk.rowsPlanned });
    return { lower: range.lower, upper: upper ?? range.upper };
  };
  if (options.maxRows === null) return { range: whole, hashes: slow ? null : await comparison.hash(whole, chunk.rowsPlanned) };
  for (let range = whole; ; range = await atMost(range)) {
    const hashes = await comparison.hash(range, chunk.rowsPlanned);
    if (hashes === null) return { range: await atMost(range), hashes: null };
    if (hashes[0].rows <= chunk.rowsPlanned) return { range, hashes };
  }
}

async function record(work: ChunkWork, chunk: DiffChunk, result: Pick<Comparison, "counts" | "differences" | "hashMs">, measured: { hashes: RangeHashes | null; began: number }): Promise<ChunkOutcome> {
  const { context, state, ref, diffId } = work;
  const { counts, differences } = result;
  const equal = counts.mismatched + counts.missing + counts.extra + counts.inconclusive === 0;
  const { hashes, began } = measured;
  const elapsedMs = performance.now() - began;
  const full = {
    ...counts,
    position: hashes?.[0].position ?? "",
    hashMs: Math.ceil(hashes === null ? result.hashMs : hashTime(hashes)),
    elapsedMs: Math.ceil(elapsedMs),
  };
  const detail = { migration: ref.migration, diff: diffId, table: chunk.table, chunk: chunk.number };
  await context.hooks.at("diff:before-record", detail);
  const outcome = equal ? "equal" : "different";
  const recorded = await work.sides.state(async (session) => {
    if (equal) return await state.chunks.record(session, ref.migration, diffId, chunk, outcome, full);
    await session.run(BEGIN);
    const first = await state.chunks.record(session, ref.migration, diffId, chunk, outcome, full);
    if (first) await state.rows.replace(session, ref.migration, diffId, chunk.table, chunk.number, differences);
    await session.run(COMMIT);
    return first;
  });
  await context.hooks.at("diff:after-record", detail);
  return recorded ? outcome : "void";
}
