/** Retry delays: exponential, capped, with full jitter on the upper half so that many workers do not come back at once. */
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
