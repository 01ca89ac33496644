import { getEventListeners } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { linkedSignal, orAborted, sleep, underAny, within } from "../../src/shared/abort.js";
import { signalUsers } from "../support/signal-users.js";

test("nothing that ran under a signal stays with it", async () => {
  const long = new AbortController();
  const other = new AbortController();
  for (let i = 0; i < 50; i++) {
    await underAny([long.signal, undefined, other.signal], (signal) => sleep(0, signal));
    await within(10_000, long.signal, (signal) => sleep(0, signal));
    await orAborted(Promise.resolve(), long.signal);
    linkedSignal(long.signal, other.signal).release();
    await expect(within(1, long.signal, (signal) => sleep(10_000, signal))).rejects.toMatchObject({ code: "ABORTED" });
    await expect(underAny([long.signal], () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  }
  expect([signalUsers(long.signal), signalUsers(other.signal)]).toEqual([0, 0]);
});

test("a joint signal fires with whichever fires first, and with its reason", async () => {
  const [a, b] = [new AbortController(), new AbortController()];
  const { signal, release } = linkedSignal(a.signal, b.signal);
  b.abort("b");
  a.abort("a");
  expect([signal.aborted, signal.reason]).toEqual([true, "b"]);
  release();
  expect(linkedSignal(a.signal).signal.reason).toBe("a");
});

test("a limit of time tells itself from the caller's abort", async () => {
  const caller = new AbortController();
  await within(1, caller.signal, async (signal, isLate) => {
    await sleep(10_000, signal).catch(() => undefined);
    expect(isLate()).toBe(true);
  });
  await within(10_000, caller.signal, async (signal, isLate) => {
    caller.abort();
    await sleep(10_000, signal).catch(() => undefined);
    expect([signal.aborted, isLate()]).toEqual([true, false]);
  });
});

test("many may listen to a joint signal without a warning", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on("warning", onWarning);
  await underAny([new AbortController().signal], async (signal) => {
    await Promise.all(Array.from({ length: 30 }, () => sleep(1, signal)));
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
});

test("no other way is taken in the sources; a command that ends may", () => {
  const root = join(import.meta.dirname, "../../src");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts") && !file.startsWith("producers/cli/"));
  const code = (file: string) => readFileSync(join(root, file), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => /AbortSignal\.(?:any|timeout)\(/.test(code(file)))).toEqual([]);
});

test("a sleep that is woken ends at once, and leaves nothing", async () => {
  const { signal } = new AbortController();
  const began = Date.now();
  await sleep(60_000, signal, (wake) => setImmediate(wake));
  expect(Date.now() - began).toBeLessThan(30_000);
  expect(signalUsers(signal)).toBe(0);
});
