/** The README's settings are those that there are. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CONFIG_VARIABLE, SETTINGS } from "../../src/shared/settings.js";

test("each variable, and each key of the settings file", () => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  for (const { variable } of [...Object.values(SETTINGS), CONFIG_VARIABLE]) expect(readme).toContain(`\`${variable}\``);
  const file = readme.split("\n").find((line) => line.startsWith("| `DROVER_CONFIG`")) ?? "";
  for (const key of Object.keys(SETTINGS)) expect(file).toMatch(new RegExp(`\`${key}\\b`));
});
