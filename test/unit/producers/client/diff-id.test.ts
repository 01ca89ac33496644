import { expect, test } from "vitest";
import { makeDiffId } from "../../../../src/producers/client/diff-id.js";
import { diffId } from "../../../../src/shared/contracts/diff.js";

test("an id of a diff is valid and begins with the time", () => {
  const id = makeDiffId(new Date("2026-12-01T10:11:12.345Z"));
  expect(id).toMatch(/^20261201-101112-[0-9a-z]{4}$/);
  expect(diffId.parse(id)).toBe(id);
});
