import { InvalidArgumentError } from "commander";
import { expect, test } from "vitest";
import { choicesArgument, durationArgument, integerArgument, listArgument } from "../../../../src/producers/cli/arguments.js";

test("durations: a bare number counts seconds", () => {
  expect(durationArgument("60s")).toBe(60_000);
  expect(durationArgument("500ms")).toBe(500);
  expect(durationArgument("2h")).toBe(7_200_000);
  expect(durationArgument("1.5")).toBe(1_500);
  for (const wrong of ["", "soon", "5 parsecs", "0", "-1s"]) expect(() => durationArgument(wrong)).toThrow(InvalidArgumentError);
});

test("whole numbers", () => {
  expect(integerArgument(1)("12")).toBe(12);
  for (const wrong of ["0", "1.5", "x", "", "1e3", "99999999999999999999"]) expect(() => integerArgument(1)(wrong)).toThrow(InvalidArgumentError);
});

test("lists and choices", () => {
  expect(listArgument("shop.orders, shop.items")).toEqual(["shop.orders", "shop.items"]);
  expect(() => listArgument("a,,b")).toThrow(InvalidArgumentError);
  expect(choicesArgument(["copy", "diff"])("diff,copy")).toEqual(["diff", "copy"]);
  expect(() => choicesArgument(["copy", "diff"])("copy,dif")).toThrow('"dif" is none of copy, diff.');
});
