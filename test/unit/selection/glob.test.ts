import { describe, expect, it } from "vitest";
import { globMatcher, isGlob } from "../../../src/shared/selection/glob.js";

const matches = (pattern: string, name: string, ignoreCase = false) => globMatcher(pattern, { ignoreCase })(name);

describe("globs", () => {
  it.each([
    ["*", "", true],
    ["*", "any\nthing", true],
    ["tmp_*", "tmp_1", true],
    ["tmp_*", "tmpX1", false],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["a?c", "a😀c", true],
    ["or*rs", "orders", true],
    ["orders", "orders2", false],
    ["orders", "ORDERS", false],
    ["a.b", "axb", false],
    ["we%_[x](y)+{1}^$|\\d'\"`/-é", "we%_[x](y)+{1}^$|\\d'\"`/-é", true],
    ["%", "orders", false],
    ["?", "*", true],
  ])("%j against %j: %s", (pattern, name, expected) => expect(matches(pattern, name)).toBe(expected));

  it("ignores case where the server does", () => {
    expect(matches("TMP_*", "tmp_1", true)).toBe(true);
    expect(matches("É*", "éa", true)).toBe(true);
  });

  it("tells a pattern from a name", () => {
    expect(isGlob("orders")).toBe(false);
    expect(isGlob("order?")).toBe(true);
  });
});
