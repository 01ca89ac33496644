/** Comparing and deriving secrets. */
import { createHmac, timingSafeEqual } from "node:crypto";

/** Whether two texts are the same, in a time that depends neither on where they differ nor on their lengths. */
export function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHmac("sha256", "compare").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** A text that only who knows `secret` can make, for one purpose. */
export function derived(secret: string, purpose: string): string {
  return createHmac("sha256", secret).update(purpose).digest("base64url");
}
