import { expect, test } from "vitest";
import { count, percent, rate, seconds } from "../../../../../src/producers/cli/format/numbers.js";
import { progressBar } from "../../../../../src/producers/cli/format/progress-bar.js";
import { textTable } from "../../../../../src/producers/cli/format/text-table.js";

test("figures", () => {
  expect(count(1234567)).toBe("1,234,567");
  expect([rate(950), rate(41_234), rate(1_250_000)]).toEqual(["950/s", "41.2k/s", "1.3M/s"]);
  expect([percent(999, 1000), percent(1000, 1000), percent(0, 0)]).toEqual(["99 %", "100 %", "0 %"]);
  expect([seconds(null), seconds(0.4), seconds(75)]).toEqual(["–", "0.4 s", "1 min 15 s"]);
});

test("bars are as wide as they should be, whatever the share", () => {
  for (const share of [-1, 0, 0.01, 0.3333, 0.5, 0.999, 1, 2, Number.NaN]) expect(progressBar(Number.isNaN(share) ? 0 : share, 20)).toHaveLength(20);
  expect(progressBar(0.5, 4)).toBe("██░░");
});

test("columns line up with wide characters and with colours", () => {
  const lines = textTable(["A", "N"], [["注文", "5"], ["\u001b[31mred\u001b[39m", "10"]], ["left", "right"]);
  expect(lines).toEqual(["A      N", "注文   5", "\u001b[31mred\u001b[39m   10"]);
});
