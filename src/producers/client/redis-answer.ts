/** Redis on the producers' side: a person or a web request waits, so nothing may wait for Redis without a bound. */
import { Redis } from "ioredis";
import { DroverError } from "../../shared/errors.js";

/** How long one exchange with Redis may take, in milliseconds. */
const PATIENCE = 5_000;

/** Why a connection was lost last: the commands that fail with it say only that they were tried again and again. */
const LAST_ERRORS = new WeakMap<Redis, Error>();

/** A connection whose commands fail when Redis does not come back, unlike the workers' one. */
export function openProducerRedis(url: string): Redis {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 3_000,
    maxRetriesPerRequest: 2,
    retryStrategy: (times) => Math.min(100 * times, 1_000),
  });
  // Without a listener ioredis prints every lost connection; the commands that fail say it.
  redis.on("error", (error: Error) => LAST_ERRORS.set(redis, error));
  redis.on("ready", () => LAST_ERRORS.delete(redis));
  return redis;
}

/** `work`, or REDIS_UNAVAILABLE after a bounded time. @throws DroverError REDIS_UNAVAILABLE */
export async function redisAnswer<T>(redis: Redis, redisUrl: string, work: () => Promise<T>): Promise<T> {
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
    throw unavailable(redisPlace(redisUrl), LAST_ERRORS.get(redis) ?? cause);
  } finally {
    clearTimeout(timer);
  }
}

/** One plain sentence for what goes wrong often; else Redis's own words. */
function unavailable(place: string, cause: unknown): DroverError {
  const words = cause instanceof Error ? cause.message : String(cause);
  const [what, cure] = /^(NOAUTH|WRONGPASS|NOPERM)\b/.test(words) ? [`refuses the login: ${words}`, "correct the user and the password in DROVER_REDIS_URL"] : (TROUBLES[codeOf(cause)] ?? [`does not answer: ${words}`, CURE]);
  return new DroverError("REDIS_UNAVAILABLE", `Redis at ${place} ${what}`, { cure, cause });
}

const CURE = "start it, or correct DROVER_REDIS_URL";

const TROUBLES: Record<string, [what: string, cure: string] | undefined> = {
  ECONNREFUSED: ["refuses connections: nothing listens there", CURE],
  ENOTFOUND: ["cannot be found: its host name is not known", "correct the host name in DROVER_REDIS_URL"],
  EAI_AGAIN: ["cannot be found: its host name cannot be looked up at present", "look at the name service, or correct DROVER_REDIS_URL"],
  ETIMEDOUT: ["does not answer", "look at the network and its firewalls, start it, or correct DROVER_REDIS_URL"],
  EHOSTUNREACH: ["cannot be reached", "look at the network and its firewalls, or correct DROVER_REDIS_URL"],
  ECONNRESET: ["closes the connection", "rediss:// is for TLS and redis:// for none: correct DROVER_REDIS_URL, or look at Redis's log"],
};

/** A name with several addresses fails with the errors of each of them. */
function codeOf(error: unknown): string {
  const { code, errors } = error as { code?: unknown; errors?: unknown[] };
  if (typeof code === "string") return code;
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : "";
}

/** Host and port only: the URL holds the password. */
export function redisPlace(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port === "" ? 6379 : port}`;
}
