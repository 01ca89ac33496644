/** The folders of `src` import each other in one direction: the linter sees cycles of files, but none of folders. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SRC = fileURLToPath(new URL("../../src/", import.meta.url));

/** From the outermost in: each may import what comes after it. */
const ORDER = ["producers/cli", "producers/board", "producers/api", "producers/client", "workers", "shared"];

test("no folder imports, not even a type, from one that stands before it", () => {
  const wrong: string[] = [];
  for (const file of readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"))) {
    const own = placeOf(file);
    if (own === -1) continue;
    for (const [, target = ""] of readFileSync(join(SRC, file), "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)) {
      const place = placeOf(relative(SRC, resolve(SRC, file, "..", target)));
      if (place !== -1 && place < own) wrong.push(`${file} imports ${target}`);
    }
  }
  expect(wrong).toEqual([]);
});

function placeOf(file: string): number {
  return ORDER.findIndex((folder) => file.startsWith(`${folder}/`));
}
