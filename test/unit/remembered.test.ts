import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { remembered } from "../../src/shared/remembered.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("one look at a time, shared while it is under way and for its life after it", async () => {
  let looks = 0;
  let end = (_value: number): void => undefined;
  const ask = remembered(1_000, () => new Promise<number>((resolve) => {
    looks += 1;
    end = resolve;
  }));
  const [first, second] = [ask(), ask()];
  vi.advanceTimersByTime(5_000);
  const third = ask();
  expect(looks).toBe(1);
  end(7);
  expect(await Promise.all([first, second, third])).toEqual([7, 7, 7]);
  vi.advanceTimersByTime(999);
  expect(await ask()).toBe(7);
  expect(looks).toBe(1);
  vi.advanceTimersByTime(1);
  void ask();
  expect(looks).toBe(2);
});

test("an error is shared as well, and does not last", async () => {
  let looks = 0;
  const ask = remembered(1_000, async () => {
    looks += 1;
    if (looks === 1) throw new Error("no answer");
    return looks;
  });
  await expect(ask()).rejects.toThrow("no answer");
  await expect(ask()).rejects.toThrow("no answer");
  vi.advanceTimersByTime(1_000);
  expect(await ask()).toBe(2);
});
