/** Commands through outages, and waits that end when nothing moves any more instead of after a time that a slow machine needs. */
import { setTimeout as sleep } from "node:timers/promises";
import { DroverError } from "../../src/shared/errors.js";

/** Without any progress for so long, nothing is going on (milliseconds). */
const STILL = 200_000;
/** A machine may be slow, but not for ever (milliseconds). */
const LONGEST = 20 * 60_000;

/** Repeats a command that got no answer, or found a server or Redis away. Every command here may be given twice. */
export async function insist<T>(command: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + LONGEST; ; await sleep(300)) {
    try {
      return await command();
    } catch (error) {
      if (!(error instanceof DroverError && error.kind === "retryable") || Date.now() > end) throw error;
    }
  }
}

/**
 * Asks until it is so.
 * @param look whether it is so, and anything that changes while it is getting there
 */
export async function untilSo(what: string, look: () => Promise<{ so: boolean; progress: unknown }>): Promise<void> {
  const begin = Date.now();
  for (let [latest, moved] = ["", Date.now()]; ; await sleep(150)) {
    const { so, progress } = await insist(look);
    if (so) return;
    const now = JSON.stringify(progress);
    if (now !== latest) [latest, moved] = [now, Date.now()];
    if (Date.now() - moved > STILL) throw new Error(`${what}: nothing has moved for ${STILL / 1000} s`);
    if (Date.now() - begin > LONGEST) throw new Error(`${what}: not after ${LONGEST / 60_000} minutes, and still at work`);
  }
}
