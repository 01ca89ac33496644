import { existsSync } from "node:fs";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { cacheFolder, cached } from "../../scripts/servers/cache.js";

const log = (): void => {};
let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join("/tmp", "drover-test-"));
  vi.stubEnv("XDG_CACHE_HOME", folder);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

test("a thing is made once, also when asked for at the same time", async () => {
  // root's servers run as nobody, who cannot pass a 0700 folder: then the cache lies elsewhere
  if (process.getuid?.() === 0) await import("node:fs/promises").then(({ chmod }) => chmod(folder, 0o755));
  expect(cacheFolder()).toBe(join(folder, "drover", "servers"));
  let made = 0;
  const make = async (place: string): Promise<void> => {
    made++;
    await sleep(50);
    await writeFile(join(place, "file"), String(made));
  };
  const places = await Promise.all([
    cached("kind/thing", log, make),
    cached("kind/thing", log, make),
    cached("kind/thing", log, make),
  ]);
  expect(new Set(places).size).toBe(1);
  expect(made).toBe(1);
  expect(await readFile(join(places[0] ?? "", "file"), "utf8")).toBe("1");
});

test("a failed attempt leaves nothing, and the next one makes it", async () => {
  const fail = cached("kind/other", log, async (place) => {
    await writeFile(join(place, "half"), "");
    throw new Error("no network");
  });
  await expect(fail).rejects.toThrow("no network");
  expect(await readdir(join(cacheFolder(), "kind"))).not.toContain("other");
  const place = await cached("kind/other", log, async (path) => writeFile(join(path, "whole"), ""));
  expect(existsSync(join(place, "whole"))).toBe(true);
  await rm(place, { recursive: true });
});

test.runIf(process.getuid?.() === 0)("root's cache lies where the servers' user can reach it", () => {
  expect(cacheFolder()).toBe("/var/cache/drover/servers");
});
