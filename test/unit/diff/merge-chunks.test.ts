import { describe, expect, it } from "vitest";
import { mergeChunks, type CopiedChunk } from "../../../src/workers/diff/copy-bounds.js";

const chain = (...chunks: CopiedChunk[]) => chunks;
const chunk = (lower: string, upper: string, rows = 10, bytes = 100): CopiedChunk => ({ lower, upper, rows, bytes });
const limits = { rows: 25, bytes: 10_000, chunks: 10 };
const hex = (key: Buffer | null) => key?.toString("hex").toUpperCase() ?? null;
const shown = (merged: ReturnType<typeof mergeChunks>) => merged.map((c) => [hex(c.lower), hex(c.upper), c.rows]);

describe("mergeChunks", () => {
  it("joins neighbours up to the limit of rows, whatever their order in the table of chunks", () => {
    const copied = chain(chunk("AA", "BB"), chunk("", "AA"), chunk("CC", "DD"), chunk("BB", "CC"), chunk("DD", "EE"));
    expect(shown(mergeChunks(copied, null, limits))).toEqual([[null, "BB", 20], ["BB", "DD", 20], ["DD", "EE", 10]]);
  });

  it("goes on behind a bound, and stops at the number of chunks asked for", () => {
    const copied = chain(chunk("", "AA", 30), chunk("AA", "BB", 30), chunk("BB", "CC", 30));
    expect(shown(mergeChunks(copied, Buffer.from("AA", "hex"), { ...limits, chunks: 1 }))).toEqual([["AA", "BB", 30]]);
  });

  it("leaves out the open end, what lies behind a gap, and a chain that turns back", () => {
    expect(shown(mergeChunks(chain(chunk("", "AA"), chunk("AA", "")), null, limits))).toEqual([[null, "AA", 10]]);
    expect(shown(mergeChunks(chain(chunk("", "AA"), chunk("BB", "CC")), null, limits))).toEqual([[null, "AA", 10]]);
    expect(mergeChunks(chain(chunk("AA", "BB")), null, limits)).toEqual([]);
    expect(mergeChunks(chain(chunk("", "AA"), chunk("AA", "BB")), Buffer.from("AB", "hex"), limits)).toEqual([]);
  });

  it("passes over a chunk of no width, which may not hide the one behind it", () => {
    const copied = chain(chunk("", "AA"), chunk("AA", "BB"), chunk("AA", "AA", 0), chunk("BB", "BB", 0));
    expect(shown(mergeChunks(copied, null, { ...limits, rows: 10 }))).toEqual([[null, "AA", 10], ["AA", "BB", 10]]);
    expect(mergeChunks(copied, Buffer.from("BB", "hex"), limits)).toEqual([]);
  });

  it("comes to an end portion by portion, also when bounds go round", () => {
    const copied = chain(chunk("", "AA"), chunk("AA", "BB"), chunk("BB", "CC"), chunk("CC", "AA"));
    const uppers: (string | null)[] = [];
    for (let after: Buffer | null = null; uppers.length < 10; ) {
      const [next] = mergeChunks(copied, after, { ...limits, rows: 10, chunks: 1 });
      if (next === undefined) break;
      uppers.push(hex(next.upper));
      after = next.upper;
    }
    expect(uppers).toEqual(["AA", "BB", "CC"]);
  });

  it("joins by bytes too", () => {
    expect(mergeChunks(chain(chunk("", "AA", 1, 9_000), chunk("AA", "BB", 1, 9_000)), null, limits)).toHaveLength(2);
  });
});
