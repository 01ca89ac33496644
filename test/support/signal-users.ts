/** What hangs on a signal: its listeners, and the signals that `AbortSignal.any` made of it (which no listener shows). */
import { getEventListeners } from "node:events";

export function signalUsers(signal: AbortSignal): number {
  const dependants = Object.getOwnPropertySymbols(signal).find((symbol) => symbol.description === "kDependantSignals");
  const made = dependants === undefined ? undefined : (signal as unknown as Record<symbol, Set<unknown> | undefined>)[dependants];
  return getEventListeners(signal, "abort").length + (made?.size ?? 0);
}
