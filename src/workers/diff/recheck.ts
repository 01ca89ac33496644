/**
 * The recheck (design §6): tells a real difference from a row that is only late, or changing.
 *
 * One round: read the source rows; take the source's executed position after it; wait until the fence has passed it; read
 * the target rows; read the source rows again.
 *
 * - The target row equals the source's second reading: they are the same, whatever was seen before.
 * - The source did not change between its readings and the target differs: the difference is confirmed once. Two readings
 *   may enclose a change and its undoing, so a difference is real only when the same pair of rows was confirmed in
 *   successive rounds: in two, and in two more for each change that was seen in the row, but in no more than eight (`MOST_CONFIRMATIONS`).
 * - Otherwise the row is changing: once more, after a pause that grows. After the last round it is inconclusive, never a
 *   mismatch.
 *
 * All candidates of a round share its statements, so that a hot table costs no more round trips than a quiet one.
 */
import { sleep } from "../../shared/abort.js";
import { backoffDelay } from "../../shared/backoff.js";
import { executedPosition } from "../../shared/mysql/position.js";
import type { FenceWait } from "./fence-wait.js";
import { rowHashesByKey, type RowHashes } from "./row-hashes.js";
import type { Sides } from "./sides.js";
import type { Subject } from "./subject.js";

/** What became of a candidate; a hash is null when there is no row of that key. */
export interface Verdict {
  key: string;
  kind: "equal" | "different" | "inconclusive";
  source: string | null;
  target: string | null;
}

export interface Candidate {
  key: string;
  /** The pair of rows that was confirmed last. */
  source: string | null;
  target: string | null;
  confirmed: number;
  changes: number;
}

export interface RecheckOptions {
  sides: Sides;
  subject: Subject;
  fence: FenceWait;
  rounds: number;
}

const MOST_CONFIRMATIONS = 8;
const PAUSE = { first: 40, cap: 1_000 };

/** Rechecks the rows of the keys (latin1 strings of text rows). */
export async function recheck(keys: readonly string[], options: RecheckOptions): Promise<Verdict[]> {
  const { sides } = options;
  const verdicts: Verdict[] = [];
  let open: Candidate[] = keys.map((key) => ({ key, source: null, target: null, confirmed: 0, changes: 0 }));
  for (let round = 1; open.length > 0; round++) {
    if (round > 1) await sleep(backoffDelay(round - 1, PAUSE), sides.signal);
    const { first, target, second, decidable } = await readRound(open.map((c) => c.key), options);
    const left: Candidate[] = [];
    for (const candidate of open) {
      const before = first.get(candidate.key) ?? null;
      const after = second.get(candidate.key) ?? null;
      const there = target.get(candidate.key) ?? null;
      const kind = decidable || there === after ? judge(candidate, before, after, there) : "inconclusive";
      if (kind !== "open") verdicts.push({ key: candidate.key, kind, source: after, target: there });
      else if (round >= options.rounds) verdicts.push({ key: candidate.key, kind: "inconclusive", source: after, target: there });
      else left.push(candidate);
    }
    open = left;
  }
  return verdicts;
}

async function readRound(keys: readonly string[], options: RecheckOptions): Promise<{ first: RowHashes; target: RowHashes; second: RowHashes; decidable: boolean }> {
  const { sides, subject, fence } = options;
  const first = await rowHashesByKey(sides, "source", subject, keys);
  const position = await sides.use("source", executedPosition);
  const verdict = await fence.until(position);
  const target = await rowHashesByKey(sides, "target", subject, keys);
  const second = await rowHashesByKey(sides, "source", subject, keys);
  return { first, target, second, decidable: verdict !== "halted" };
}

export function judge(candidate: Candidate, before: string | null, after: string | null, target: string | null): "equal" | "different" | "open" {
  if (target === after) return "equal";
  if (before !== after) {
    candidate.changes += 1;
    candidate.confirmed = 0;
    return "open";
  }
  const samePair = candidate.confirmed > 0 && candidate.source === after && candidate.target === target;
  if (candidate.confirmed > 0 && !samePair) candidate.changes += 1;
  candidate.confirmed = samePair ? candidate.confirmed + 1 : 1;
  candidate.source = after;
  candidate.target = target;
  return candidate.confirmed >= Math.min(MOST_CONFIRMATIONS, 2 + 2 * candidate.changes) ? "different" : "open";
}
