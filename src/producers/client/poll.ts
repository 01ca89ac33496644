/** Looking again and again, with a limit. */
import { sleep } from "../../shared/abort.js";
import { DroverError } from "../../shared/errors.js";

/** Milliseconds between two looks. */
const INTERVAL = 150;

export interface PollOptions {
  /** Milliseconds; without it the wait has no end. */
  timeout: number | undefined;
  signal: AbortSignal;
}

/**
 * Looks until `look` gives a value. Servers that do not answer are asked again, except at the first look, where it is
 * likelier a wrong setting than an outage.
 * @throws DroverError TIMEOUT with `what` in its message; what `look` throws
 */
export async function poll<T>(what: string, options: PollOptions, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = options.timeout === undefined ? Infinity : Date.now() + options.timeout;
  for (let first = true; ; first = false) {
    try {
      const value = await look();
      if (value !== undefined) return value;
    } catch (error) {
      if (first || !(error instanceof DroverError) || error.kind !== "retryable") throw error;
    }
    const left = deadline - Date.now();
    if (left <= 0) throw new DroverError("TIMEOUT", `${what} within ${(options.timeout ?? 0) / 1000} s`);
    await sleep(Math.min(INTERVAL, left), options.signal);
  }
}
