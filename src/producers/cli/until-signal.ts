/** For commands that run until they are told to end. */

/** Resolves at the first SIGTERM or SIGINT; the second ends the process at once. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let signals = 0;
    const onSignal = (signal: NodeJS.Signals) => {
      signals += 1;
      if (signals > 1) process.exit(signal === "SIGINT" ? 130 : 143);
      resolve();
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
}
