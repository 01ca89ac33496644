import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { every } from "../../src/shared/every.js";

it("leaves turns out while one is under way, goes on after an error, and ends", async () => {
  let begun = 0;
  let release = (): void => undefined;
  const end = every(10, async () => {
    begun += 1;
    if (begun === 1) await new Promise<void>((resolve) => (release = resolve));
    throw new Error("handled by the work itself");
  });
  await sleep(100);
  expect(begun).toBe(1);
  release();
  await expect.poll(() => begun).toBeGreaterThan(2);
  end();
  const seen = begun;
  await sleep(50);
  expect(begun).toBe(seen);
});
