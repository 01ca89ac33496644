/** A slow source must not end a migration as if the table were too large. */
import { expect, test } from "vitest";
import { NO_KEY_BYTES, NO_KEY_ROWS } from "../../../src/shared/selection/no-key.js";
import { WholeReadLimit } from "../../../src/workers/copy/whole-read-limit.js";

const TABLE = { schema: "shop", table: "log" };

/** Rows that were taken until the end, and the error's code. */
function read(rows: number, bytes: number, now: (row: number) => number): [taken: number, code: string | null] {
  const limit = new WholeReadLimit(0);
  for (let i = 0; i < rows; i++) if (!limit.add(bytes, () => now(i))) return [limit.rows, limit.error(TABLE).code];
  return [limit.rows, null];
}

test("rows and bytes are the limit; the clock may be met, and then it is tried again", () => {
  expect(read(NO_KEY_ROWS, 10, () => 0)).toEqual([NO_KEY_ROWS, null]);
  expect(read(NO_KEY_ROWS + 1, 10, () => 0)).toEqual([NO_KEY_ROWS + 1, "NO_KEY_TOO_LARGE"]);
  expect(read(3, NO_KEY_BYTES / 2, () => 0)).toEqual([3, "NO_KEY_TOO_LARGE"]);
  expect(read(1_000, 10, (row) => row * 10)).toEqual([384, "SERVER_BUSY"]);
  // Both at once: no retry would help.
  expect(read(NO_KEY_ROWS + 1, 10, (row) => (row >= NO_KEY_ROWS ? 4_000 : 0))).toEqual([NO_KEY_ROWS + 1, "NO_KEY_TOO_LARGE"]);
});
