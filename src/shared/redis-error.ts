/** Whether an error is of Redis or of the way to it: by ioredis' classes and Node's codes, and by wording only where ioredis gives nothing else. */
import { ReplyError } from "ioredis";

/** What ioredis takes its errors from (`redis-errors`): refusals, and `AbortError` of a command or pipeline that a closed connection cut off. */
const RedisError = Object.getPrototypeOf(ReplyError) as typeof Error;

const NETWORK = new Set(["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN", "ENOTFOUND", "EAI_AGAIN", "ERR_STREAM_DESTROYED", "ERR_SOCKET_CLOSED"]);
/** Plain errors of ioredis 6. BullMQ's own class has the first one's text, or its cause's. */
const PLAIN = /^(?:Connection is closed|Stream isn't writeable|Command timed out|Socket timeout\b)/;
/** BullMQ's numbers of a job whose key or lock is gone, or that is not active any more: Redis was emptied, or the job is somebody else's by now. */
const JOB_GONE = new Set<unknown>([-1, -2, -3, -6]);

export function isRedisError(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  const { code } = thrown as { code?: unknown };
  return RedisError.prototype.isPrototypeOf(thrown) || thrown.name === "ConnectionClosedError" || JOB_GONE.has(code) || NETWORK.has(String(code)) || PLAIN.test(thrown.message);
}
