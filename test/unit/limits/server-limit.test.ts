/** How long somebody waits for a place that is free. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Places } from "../../../src/workers/limits/places.js";
import { ServerLimit } from "../../../src/workers/limits/server-limit.js";

const signal = new AbortController().signal;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Redis answers each question when `answer` says so, and with as many places as it says. */
function scene() {
  const questions: { wanted: number; answer: (given: number) => void }[] = [];
  const places = {
    take: (_most: unknown, _held: readonly string[], wanted: readonly string[]) => new Promise<number>((resolve) => questions.push({ wanted: wanted.length, answer: resolve })),
    giveBack: () => Promise.resolve(),
  } as unknown as Places;
  const limit = new ServerLimit({ server: "SRC", kind: "statements", limit: 8, worker: "w", places, redisReady: () => true });
  return { limit, questions, [Symbol.dispose]: () => limit.close() };
}

test("whoever comes while Redis is being asked is asked for right after it", async () => {
  using one = scene();
  const first = one.limit.admit("outer", signal);
  await vi.advanceTimersByTimeAsync(1);
  const second = one.limit.admit("outer", signal);
  await vi.advanceTimersByTimeAsync(5);
  expect(one.questions.map((q) => q.wanted)).toEqual([1]);
  one.questions[0]?.answer(1);
  await first;
  await vi.advanceTimersByTimeAsync(1);
  expect(one.questions.map((q) => q.wanted)).toEqual([1, 1]);
  one.questions[1]?.answer(1);
  await second;
});

test("where there was no room Redis is asked again after a pause", async () => {
  using one = scene();
  const first = one.limit.admit("outer", signal);
  await vi.advanceTimersByTimeAsync(1);
  one.questions[0]?.answer(0);
  await vi.advanceTimersByTimeAsync(20);
  expect(one.questions.length).toBe(1);
  await vi.advanceTimersByTimeAsync(40);
  expect(one.questions.length).toBe(2);
  one.questions[1]?.answer(1);
  await first;
});
