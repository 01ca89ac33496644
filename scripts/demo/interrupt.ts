/** Ctrl-C and its kin: one signal for everything that runs, and a reason that says how it ended. */

const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

export class Interrupted extends Error {
  /** As a shell counts it. */
  readonly exitCode: number;

  constructor(signal: keyof typeof NUMBERS) {
    super(`ended by ${signal}`);
    this.exitCode = 128 + NUMBERS[signal];
  }
}

/** Fires once, at the first of the signals; those that follow change nothing: the end is under way, and it is not long. */
export function interruption(): AbortSignal {
  const stop = new AbortController();
  const end = (signal: keyof typeof NUMBERS): void => stop.abort(new Interrupted(signal));
  for (const signal of Object.keys(NUMBERS) as (keyof typeof NUMBERS)[]) process.on(signal, () => end(signal));
  // npm and tsx run this as their child; when one of them is killed -9, nobody is left to tell it
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) end("SIGHUP");
  }, 500).unref();
  return stop.signal;
}

/** For work that cannot be told to end: it is left to itself. */
export function interruptible<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
