/** Limits per server, as `Connections` sees them; who keeps them is `workers/limits/`. */

/** What is limited: open sessions, and sessions that are at work (a session runs one statement at a time). */
export type LimitKind = "connections" | "statements";

/**
 * What asks. `nested` holds something already, on this server or another, and finds a reserve, so that of many that each
 * wait for a second one some get it; `standing` stays for long, and leaves room for work.
 */
export type LimitUse = "outer" | "nested" | "standing";

export interface Admission {
  /**
   * Waits for a place. The function that comes back gives it back, and may be called again without effect.
   * @throws DroverError LIMIT_REACHED after a while, ABORTED
   */
  admit(server: string, kind: LimitKind, use: LimitUse, signal: AbortSignal): Promise<() => void>;
}
