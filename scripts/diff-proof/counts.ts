/** The counts of a diff's report, over its tables. */
import type { DiffReport } from "../../src/shared/contracts/diff.js";

export interface Counts {
  rowsCompared: number;
  mismatched: number;
  missing: number;
  extra: number;
  inconclusive: number;
}

export function countsOf(...reports: readonly DiffReport[]): Counts {
  const counts: Counts = { rowsCompared: 0, mismatched: 0, missing: 0, extra: 0, inconclusive: 0 };
  for (const table of reports.flatMap((report) => report.tables)) {
    counts.rowsCompared += table.rowsCompared;
    counts.mismatched += table.mismatched;
    counts.missing += table.missingOnTarget;
    counts.extra += table.extraOnTarget;
    counts.inconclusive += table.inconclusive;
  }
  return counts;
}

/** Of the rows compared at most this share may be inconclusive: 0.01 %. */
const MOST_INCONCLUSIVE = 0.0001;

export function isClean(counts: Counts): boolean {
  return counts.rowsCompared > 0 && counts.mismatched + counts.missing + counts.extra === 0 && counts.inconclusive < counts.rowsCompared * MOST_INCONCLUSIVE;
}
