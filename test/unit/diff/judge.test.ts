import { describe, expect, it } from "vitest";
import { judge, type Candidate } from "../../../src/workers/diff/recheck.js";

/** Runs rounds of (source before, source after, target) and returns the verdict of each. */
function verdicts(...rounds: [string | null, string | null, string | null][]): string[] {
  const candidate: Candidate = { key: "k", source: null, target: null, confirmed: 0, changes: 0 };
  return rounds.map(([before, after, target]) => judge(candidate, before, after, target));
}

describe("judge", () => {
  it("takes equality at once, after whatever was seen before", () => {
    expect(verdicts(["a", "a", "a"])).toEqual(["equal"]);
    expect(verdicts(["a", "b", "b"])).toEqual(["equal"]);
    expect(verdicts([null, null, null])).toEqual(["equal"]);
  });

  it("confirms a difference of a row at rest in the second round", () => {
    expect(verdicts(["a", "a", "b"], ["a", "a", "b"])).toEqual(["open", "different"]);
    expect(verdicts(["a", "a", null], ["a", "a", null])).toEqual(["open", "different"]);
    expect(verdicts([null, null, "b"], [null, null, "b"])).toEqual(["open", "different"]);
  });

  it("never confirms a row that changes between the readings", () => {
    expect(verdicts(["a", "b", "a"], ["b", "c", "a"], ["c", "d", "b"])).toEqual(["open", "open", "open"]);
  });

  it("asks for more rounds of the same pair after every change that it saw", () => {
    expect(verdicts(["a", "b", "x"], ["b", "b", "x"], ["b", "b", "x"], ["b", "b", "x"], ["b", "b", "x"])).toEqual(["open", "open", "open", "open", "different"]);
  });

  it("starts over when the pair is another one: a row that flips between two values is no difference", () => {
    expect(verdicts(["a", "a", "b"], ["b", "b", "a"], ["a", "a", "b"], ["a", "a", "b"])).toEqual(["open", "open", "open", "open"]);
  });
});
