/** The one place where what was thrown becomes an error of ours. */
import { DroverError } from "../shared/errors.js";
import { isRedisError } from "../shared/redis-error.js";

/** Anything that is not ours came from Redis, which may heal, or is a defect. */
export function codedError(thrown: unknown): DroverError {
  if (thrown instanceof DroverError) return thrown;
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  if (isRedisError(error)) return new DroverError("REDIS_UNAVAILABLE", `Redis: ${error.message}`, { cause: error });
  return new DroverError("BUG", `unexpected: ${error.message}`, { cause: error });
}
