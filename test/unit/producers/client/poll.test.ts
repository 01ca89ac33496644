import { expect, test } from "vitest";
import { poll } from "../../../../src/producers/client/poll.js";
import { DroverError } from "../../../../src/shared/errors.js";

const never = new AbortController().signal;
const lost = () => new DroverError("CONNECTION_LOST", "DST: gone");

test("looks until there is a value, over an outage in between", async () => {
  let looks = 0;
  const value = await poll("it", { timeout: 5_000, signal: never }, async () => {
    looks += 1;
    if (looks === 2) throw lost();
    return looks === 3 ? "there" : undefined;
  });
  expect(value).toBe("there");
});

test("an outage at the first look is said at once", async () => {
  await expect(poll("it", { timeout: 5_000, signal: never }, () => Promise.reject(lost()))).rejects.toMatchObject({ code: "CONNECTION_LOST" });
});

test("ends with TIMEOUT, and with ABORTED", async () => {
  await expect(poll("it did not come", { timeout: 20, signal: never }, async () => undefined)).rejects.toMatchObject({ code: "TIMEOUT", message: "it did not come within 0.02 s" });
  await expect(poll("it", { timeout: undefined, signal: AbortSignal.timeout(20) }, async () => undefined)).rejects.toMatchObject({ code: "ABORTED" });
});
