import { describe, expect, it } from "vitest";
import { HashPace } from "../../../src/workers/diff/pace.js";

describe("HashPace", () => {
  it("knows nothing of a table before its first measurement", () => {
    const pace = new HashPace();
    pace.record("a", 1_000, 100);
    expect(pace.rowsWithin("b", 300)).toBe(Infinity);
    expect(pace.rowsWithin("a", 300)).toBe(3_000);
  });

  it("follows a slower server at once, and a faster one slowly", () => {
    const pace = new HashPace();
    pace.record("a", 1_000, 100);
    pace.record("a", 1_000, 1_000);
    expect(pace.rowsWithin("a", 300)).toBe(300);
    pace.record("a", 1_000, 100);
    const recovering = pace.rowsWithin("a", 300);
    expect(recovering).toBeGreaterThan(300);
    expect(recovering).toBeLessThan(1_000);
  });

  it("takes no statement over a few rows for a pace: that is the network's", () => {
    const pace = new HashPace();
    pace.record("a", 3, 90);
    expect(pace.rowsWithin("a", 300)).toBe(Infinity);
  });
});
