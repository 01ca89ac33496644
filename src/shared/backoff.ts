/** Retry delays: exponential, capped, with full jitter on the upper half so that many workers do not come back at once. */
import { abortedError, DroverError } from "./errors.js";
import { sleep } from "./abort.js";

export interface BackoffOptions {
  /** First delay in milliseconds. */
  first: number;
  /** Longest delay in milliseconds. */
  cap: number;
}

const DEFAULT_BACKOFF: BackoffOptions = { first: 250, cap: 10_000 };

/** The delay before attempt `attempt + 1`, in milliseconds; `attempt` counts failures from 1. */
export function backoffDelay(attempt: number, options: BackoffOptions = DEFAULT_BACKOFF): number {
  const full = Math.min(options.cap, options.first * 2 ** Math.min(attempt - 1, 30));
  return Math.round(full / 2 + (Math.random() * full) / 2);
}

/**
 * Runs `work` until it succeeds, retrying retryable errors.
 * @throws the first error that is not retryable; ABORTED when the signal fires
 */
export async function retrying<T>(work: () => Promise<T>, signal: AbortSignal, onError: (error: DroverError, attempt: number) => void, options?: BackoffOptions): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    if (signal.aborted) throw abortedError(signal);
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DroverError) || error.kind !== "retryable") throw error;
      onError(error, attempt);
      await sleep(backoffDelay(attempt, options), signal);
    }
  }
}
