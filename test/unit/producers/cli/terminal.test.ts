import { expect, test } from "vitest";
import { painter } from "../../../../src/producers/cli/terminal.js";

const stream = (isTTY: boolean) => ({ write: () => true, isTTY });

test.each([
  ["on a terminal", true, {}, true],
  ["not into a file", false, {}, false],
  ["not with NO_COLOR", true, { NO_COLOR: "1" }, false],
  ["an empty NO_COLOR is none", true, { NO_COLOR: "" }, true],
  ["into a file with FORCE_COLOR", false, { FORCE_COLOR: "1" }, true],
  ["FORCE_COLOR decides over NO_COLOR", false, { FORCE_COLOR: "1", NO_COLOR: "1" }, true],
  ["not with FORCE_COLOR=0", true, { FORCE_COLOR: "0" }, false],
])("colours %s", (_name, isTTY, environment, colours) => {
  expect(painter(stream(isTTY), environment)("red", "x") !== "x").toBe(colours);
});
