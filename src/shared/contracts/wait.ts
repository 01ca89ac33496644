/** What can be waited for. */
export const WAIT_PHASES = ["copied", "streaming", "caught-up", "stopped"] as const;
/**
 * `copied`: all rows are on the target. `streaming`: and it follows. `caught-up`: everything that was committed on the
 * source when the wait began is applied. `stopped`: it has ended for good.
 */
export type WaitPhase = (typeof WAIT_PHASES)[number];
