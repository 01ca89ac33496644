/** How far a target is behind. */
import { positionCovers } from "../../shared/mysql/position.js";
import type { Fence } from "../../shared/state/fence.js";

/** Milliseconds; 0 when everything is applied, null while it cannot be told. @param now by our clock, in milliseconds */
export function lagOf(fence: Fence | null, source: string, now: number): number | null {
  if (fence === null) return null;
  if (positionCovers(fence.position, source)) return 0;
  return fence.sourceTime === 0 ? null : Math.max(0, now - fence.sourceTime);
}
