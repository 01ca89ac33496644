/** Ids of new diffs. */
import { randomInt } from "node:crypto";

/** Sorts by time and is unique without asking anybody: `20261201-101112-k3x9`. */
export function makeDiffId(now: Date): string {
  const [date, time] = now.toISOString().replaceAll(/[-:]/g, "").slice(0, 15).split("T");
  return `${date}-${time}-${randomInt(36 ** 4).toString(36).padStart(4, "0")}`;
}
