/** A Redis that is away: told at once with its cure, then less and less often, and when it is back. */
import type { Redis } from "ioredis";
import type { Logger } from "../shared/logger.js";

/** Until it is told again, in milliseconds; doubled each time up to the second. */
const AGAIN = { first: 2_000, cap: 60_000 };
const CURE = "see that Redis runs and that DROVER_REDIS_URL is right; work goes on by itself when it is back";

export function logRedis(redis: Pick<Redis, "on">, log: Pick<Logger, "warn" | "info">, now: () => number = Date.now): void {
  let away: { since: number; due: number; pause: number } | null = null;
  redis.on("error", (error: Error) => {
    const at = now();
    if (away !== null && at < away.due) return;
    const pause = away === null ? AGAIN.first : Math.min(2 * away.pause, AGAIN.cap);
    away = { since: away?.since ?? at, due: at + pause, pause };
    // Addresses of both families that refuse come as one error without words.
    const message = error.message === "" ? ((error as NodeJS.ErrnoException).code ?? error.name) : error.message;
    log.warn({ message, cure: CURE, awaySeconds: Math.round((at - away.since) / 1000) }, "Redis does not answer");
  });
  redis.on("ready", () => {
    if (away !== null) log.info({ awaySeconds: Math.round((now() - away.since) / 1000) }, "Redis is back");
    away = null;
  });
}
