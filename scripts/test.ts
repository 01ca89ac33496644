/**
 * `npm test [-- FILTER…]`: types, lint, then vitest with the filter. The last line on stdout is `N passed, N failed`, and
 * `, N skipped` when there are any; types and lint count as one test each. Tests that passed only at their second try are listed.
 *
 * The servers' data lie in memory where there is room and `TMPDIR` says nothing else: most of what these tests wait for is otherwise the disk.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

import type { TestSummary } from "../test/support/summary-reporter.js";

const filters = process.argv.slice(2);
const total: TestSummary = { passed: 0, failed: 0, skipped: [], unsteady: [] };

for (const script of ["types", "lint"]) {
  const code = await section(script, ["npm", "run", "--silent", script]);
  if (code === 0) total.passed++;
  else total.failed++;
}

/** Linux' file system in memory, and how much of it, and of the memory itself, must be free (bytes). */
const MEMORY = { folder: "/dev/shm", room: 8 * 2 ** 30 };
const temporary = process.env["TMPDIR"] ?? (hasRoom(MEMORY.folder, MEMORY.room) ? MEMORY.folder : tmpdir());

const folder = mkdtempSync(join(tmpdir(), "drover-test-"));
const summaryFile = join(folder, "summary.json");
try {
  const reporters = ["--reporter=default", "--reporter=./test/support/summary-reporter.ts"];
  const code = await section("tests", ["npx", "--no-install", "vitest", "run", ...reporters, ...filters], {
    DROVER_TEST_SUMMARY: summaryFile,
    TMPDIR: temporary,
  });
  const summary: TestSummary = existsSync(summaryFile)
    ? (JSON.parse(readFileSync(summaryFile, "utf8")) as TestSummary)
    : { passed: 0, failed: 0, skipped: [], unsteady: [] };
  total.passed += summary.passed;
  total.skipped.push(...summary.skipped);
  total.unsteady.push(...summary.unsteady);
  // a runner that failed without a failed test (it found no file, its setup threw, it was killed) is a failure too
  total.failed += summary.failed === 0 && code !== 0 ? 1 : summary.failed;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

list("passed only at the second try", total.unsteady);
list("skipped", total.skipped);
const counts = [`${total.passed} passed`, `${total.failed} failed`];
if (total.skipped.length > 0) counts.push(`${total.skipped.length} skipped`);
console.log(counts.join(", "));
process.exitCode = total.failed === 0 ? 0 : 1;

function list(title: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log(`\n${title}:\n${lines.map((line) => `  ${line}`).join("\n")}\n`);
}

function hasRoom(place: string, bytes: number): boolean {
  if (!existsSync(place)) return false;
  const { bavail, bsize } = statfsSync(place);
  return bavail * bsize >= bytes && freemem() >= bytes;
}

/** Runs a command with its output on ours; returns its exit code. */
async function section(title: string, [file = "", ...args]: string[], env: Record<string, string> = {}): Promise<number> {
  console.log(`\n== ${title}`);
  const began = Date.now();
  const code = await new Promise<number>((resolve, reject) => {
    const child = spawn(file, args, { stdio: "inherit", env: { ...process.env, ...env } });
    child.once("error", reject);
    child.once("exit", (exit) => resolve(exit ?? 1));
  });
  console.log(
    `== ${title}: ${code === 0 ? "ok" : `failed (exit code ${code})`} in ${((Date.now() - began) / 1000).toFixed(1)} s`,
  );
  return code;
}
