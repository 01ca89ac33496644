/**
 * Compares a table without a key: as a multiset of rows. Equal hashes end it; otherwise both sides' row hashes are counted, which
 * says how many rows are missing or too many, and names none.
 *
 * Rows cannot be rechecked one by one, so the table is, as a whole, in the way of `recheck.ts`: source, its position, wait for the
 * fence, target, source again. What differs while the source stands still, twice, is real.
 */
import { sleep } from "../../shared/abort.js";
import { backoffDelay } from "../../shared/backoff.js";
import { rowHashExpression } from "../../shared/columns/row-hash.js";
import { conditions, keyedTable } from "../../shared/keys/chunk-select.js";
import { sql } from "../../shared/mysql/bytes.js";
import { executedPosition } from "../../shared/mysql/position.js";
import type { DiffCounts } from "../../shared/state/diff-chunks.js";
import type { FenceWait } from "./fence-wait.js";
import type { SideName, Sides } from "./sides.js";
import type { Subject } from "./subject.js";

export interface WholeComparison {
  sides: Sides;
  subject: Subject;
  fence: FenceWait;
  rounds: number;
  /** Different rows that are counted on each side; beyond them it cannot be told how many rows differ. */
  most: number;
}

const PAUSE = { first: 40, cap: 1_000 };
const CONFIRMATIONS = 2;

export async function compareWhole({ sides, subject, fence, rounds, most }: WholeComparison): Promise<DiffCounts> {
  let confirmed = "";
  let times = 0;
  for (let round = 1; ; round++) {
    if (round > 1) await sleep(backoffDelay(round - 1, PAUSE), sides.signal);
    const first = await rowCounts(sides, "source", subject, most);
    const verdict = await fence.until(await sides.use("source", executedPosition));
    const target = await rowCounts(sides, "target", subject, most);
    const second = await rowCounts(sides, "source", subject, most);
    if (Math.max(first.size, target.size, second.size) > most) return { rows: most, matching: 0, mismatched: 0, missing: 0, extra: 0, inconclusive: most };
    const { rows, missing, extra } = difference(second, target);
    if (missing === 0 && extra === 0) return { rows, matching: rows, mismatched: 0, missing: 0, extra: 0, inconclusive: 0 };
    const still = difference(first, second);
    const seen = JSON.stringify([missing, extra]);
    times = still.missing + still.extra > 0 || verdict === "halted" ? 0 : seen === confirmed ? times + 1 : 1;
    confirmed = seen;
    if (times >= CONFIRMATIONS) return { rows, matching: rows - missing, mismatched: 0, missing, extra, inconclusive: 0 };
    if (round >= rounds) return { rows, matching: rows - missing, mismatched: 0, missing: 0, extra: 0, inconclusive: missing + extra };
  }
}

/** How often each row is there, by its hash; one more than `most` when there are more. */
async function rowCounts(sides: Sides, side: SideName, subject: Subject, most: number): Promise<Map<string, number>> {
  return await sides.read(side, subject, async (session, definition) => {
    const from = sql`FROM ${keyedTable(definition)}${conditions(definition, { lower: null, upper: null, where: subject.where })}`;
    const rows = await session.rows(sql`SELECT h, COUNT(*) AS times FROM (SELECT ${rowHashExpression(definition)} AS h ${from} LIMIT 18446744073709551615) AS hashes GROUP BY h LIMIT ${most + 1}`);
    return new Map(rows.map((row) => [row["h"] ?? "", Number(row["times"])]));
  });
}

/** How many rows `a` has, and how many of them are not in `b`, and the other way round. */
function difference(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): { rows: number; missing: number; extra: number } {
  let [rows, common, others] = [0, 0, 0];
  for (const [hash, times] of a) {
    rows += times;
    common += Math.min(times, b.get(hash) ?? 0);
  }
  for (const times of b.values()) others += times;
  return { rows, missing: rows - common, extra: others - common };
}
