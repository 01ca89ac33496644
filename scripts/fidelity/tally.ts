/** What passed and what failed, per kind of value and way. */

export interface Tally {
  passed: number;
  failed: number;
}

export interface Failure {
  pair: string;
  what: string;
  way: string;
  detail: string;
}

export class Results {
  readonly counts = new Map<string, Tally>();
  readonly failures: Failure[] = [];
  /** Types that could not be tried, each with why. */
  readonly impossible: string[] = [];

  count(pair: string, what: string, way: string, problem: string | null): void {
    const key = `${pair}\t${what}`;
    const tally = this.counts.get(key) ?? { passed: 0, failed: 0 };
    this.counts.set(key, tally);
    if (problem === null) tally.passed += 1;
    else {
      tally.failed += 1;
      this.failures.push({ pair, what, way, detail: problem });
    }
  }

  get total(): Tally {
    const all = [...this.counts.values()];
    return { passed: all.reduce((sum, one) => sum + one.passed, 0), failed: all.reduce((sum, one) => sum + one.failed, 0) };
  }
}

const MOST_FAILURES = 5;

/** A line per pair and kind of value; the first failures of each below. */
export function tallyLines(results: Results): string[] {
  const lines = [...results.counts].map(([key, { passed, failed }]) => {
    const [pair, what] = key.split("\t");
    const shown = results.failures.filter((one) => one.pair === pair && one.what === what).slice(0, failed === 0 ? 0 : MOST_FAILURES);
    return [`${(pair ?? "").padEnd(16)} ${(what ?? "").padEnd(44)} ${String(passed).padStart(6)} passed${failed === 0 ? "" : `, ${failed} FAILED`}`, ...shown.map((one) => `    ${one.way}: ${one.detail}`)].join("\n");
  });
  return [...lines, ...results.impossible.map((line) => `not tried: ${line}`)];
}

export function tallyJson(results: Results): string[] {
  const kinds = [...results.counts].map(([key, tally]) => {
    const [pair, type] = key.split("\t");
    return JSON.stringify({ pair, type, ...tally });
  });
  return [...kinds, ...results.failures.map((failure) => JSON.stringify({ failure })), ...results.impossible.map((notTried) => JSON.stringify({ notTried }))];
}
