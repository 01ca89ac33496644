/** Counts the tests of a run for scripts/test.ts, which reads them from the file that DROVER_TEST_SUMMARY names. */
import { writeFileSync } from "node:fs";

import type { Reporter, TestCase, TestModule } from "vitest/node";

export interface TestSummary {
  passed: number;
  failed: number;
  /** One line per skipped test: its name and why. */
  skipped: string[];
  /** Those that passed at their second try: for a person to look into, or to widen a bound that a busy machine broke. */
  unsteady: string[];
}

export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    // an error outside of any test must not pass for a good run
    const summary: TestSummary = { passed: 0, failed: unhandledErrors.length, skipped: [], unsteady: [] };
    for (const module of modules) {
      // a file that cannot be loaded, or whose hooks failed, has no failed test
      summary.failed += module.errors().length;
      for (const suite of module.children.allSuites()) summary.failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const result = test.result();
        const name = `${module.relativeModuleId} > ${test.fullName}`;
        if (test.diagnostic()?.flaky === true) summary.unsteady.push(name);
        if (result.state === "passed") summary.passed++;
        else if (result.state === "failed") summary.failed++;
        else summary.skipped.push(`${name}: ${reason(test)}`);
      }
    }
    const file = process.env["DROVER_TEST_SUMMARY"];
    if (file !== undefined) writeFileSync(file, JSON.stringify(summary));
  }
}

function reason(test: TestCase): string {
  const result = test.result();
  if (result.state === "pending") return "did not run";
  for (let suite: TestCase["parent"] = test.parent; ; suite = suite.parent) {
    if (suite.errors().length > 0) return "a hook before it failed";
    if (suite.type === "module") break;
  }
  return (result.state === "skipped" ? result.note : undefined) ?? 'no reason given (use ctx.skip("why"))';
}
