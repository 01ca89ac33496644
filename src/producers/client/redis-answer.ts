/** Redis on the producers' side: a person or a web request waits, so nothing may wait for Redis without a bound. */
import { Redis } from "ioredis";
import { DroverError } from "../../shared/errors.js";

/** How long one exchange with Redis may take, in milliseconds. */
const PATIENCE = 5_000;

/** A connection whose commands fail when Redis does not come back, unlike the workers' one. */
export function openProducerRedis(url: string): Redis {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 3_000,
    maxRetriesPerRequest: 2,
    retryStrategy: (times) => Math.min(100 * times, 1_000),
  });
  // Without a listener ioredis prints every lost connection; the commands that fail say it.
  redis.on("error", () => undefined);
  return redis;
}

/** `work`, or REDIS_UNAVAILABLE after a bounded time. @throws DroverError REDIS_UNAVAILABLE */
export async function redisAnswer<T>(redisUrl: string, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer for ${PATIENCE / 1000} s`)), PATIENCE);
  });
  const result = work();
  // It may fail after the bound, when nobody looks any more.
  result.catch(() => undefined);
  try {
    return await Promise.race([result, bound]);
  } catch (cause) {
    if (cause instanceof DroverError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DroverError("REDIS_UNAVAILABLE", `Redis at ${redisPlace(redisUrl)} does not answer: ${reason}`, { cure: "start it, or correct DROVER_REDIS_URL", cause });
  } finally {
    clearTimeout(timer);
  }
}

/** Host and port only: the URL holds the password. */
function redisPlace(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port === "" ? 6379 : port}`;
}
