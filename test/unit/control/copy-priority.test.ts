import { expect, test } from "vitest";
import { parseMigrationSpec } from "../../../src/shared/contracts/spec.js";
import { copyPriority, FIRST_OF_ALL } from "../../../src/workers/control/copy-priority.js";

const spec = (priority = 5) => parseMigrationSpec({ id: "m", source: "SRC", target: "DST", tables: [{ schema: "s" }], options: { priority } });

test("a migration's jobs come later the more it has copied, over chunks and over tables", () => {
  const over = (numbers: [table: number, chunk: number][]) => numbers.map(([table, chunk]) => copyPriority(spec(), table, chunk));
  const chunks = over([[1, 1], [1, 2], [1, 3], [1, 5], [1, 9], [1, 100_000]]);
  expect([...chunks].sort((a, b) => a - b)).toEqual(chunks);
  expect(new Set(chunks).size).toBe(chunks.length);
  expect(copyPriority(spec(), 1_000, 1)).toBeGreaterThan(copyPriority(spec(), 1, 1));
});

test("the spec's priority counts for more than that, and what has waited for long for more than both", () => {
  expect(copyPriority(spec(4), 1, 1_000_000)).toBeLessThan(copyPriority(spec(5), 1, 1));
  expect(FIRST_OF_ALL).toBeLessThan(copyPriority(spec(1), 1, 1));
});
