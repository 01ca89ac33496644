/**
 * How an error travels from a worker to whoever sent the command: as JSON in the job's `failedReason`, which BullMQ
 * keeps and Bull Board shows. It holds no row value, no SQL and no stack (promise 6).
 */
import type { z } from "zod";
import { encodedError } from "./contracts/problem.js";
import { DroverError, ERROR_KINDS, MAX_ERROR_MESSAGE, bounded, type ErrorCode, type Problem } from "./errors.js";

/** Problems beyond this number are left out: `failedReason` lies in Redis. */
const MAX_PROBLEMS = 100;

/** What a failed command looks like to programs: on the wire, in `--json` output and in the HTTP API. */
export type EncodedError = z.output<typeof encodedError>;

/** The bounded form of any thrown value. */
export function encodedErrorOf(thrown: unknown): EncodedError {
  const error = thrown instanceof DroverError ? thrown : undefined;
  return {
    code: error?.code ?? "BUG",
    errno: error?.errno ?? null,
    sqlState: error?.sqlState ?? null,
    message: bounded(thrown instanceof Error ? thrown.message : String(thrown), MAX_ERROR_MESSAGE),
    cure: error?.cure === undefined ? null : bounded(error.cure, MAX_ERROR_MESSAGE),
    problems: (error?.problems ?? []).slice(0, MAX_PROBLEMS).map(boundedProblem),
  };
}

/** The text to throw out of a processor, so that it becomes the job's `failedReason`. */
export function encodeJobError(thrown: unknown): string {
  return JSON.stringify(encodedErrorOf(thrown));
}

/** The error that a `failedReason` stands for; texts of BullMQ's own (a lost job, a stall limit) become `BUG` with that text. */
export function decodeJobError(failedReason: string): DroverError {
  const parsed = encodedError.safeParse(parseJson(failedReason));
  if (!parsed.success) return new DroverError("BUG", bounded(failedReason, MAX_ERROR_MESSAGE));
  const { code, message, errno, sqlState, cure, problems } = parsed.data;
  return new DroverError(code in ERROR_KINDS ? (code as ErrorCode) : "BUG", message, {
    errno: errno ?? undefined,
    sqlState: sqlState ?? undefined,
    cure: cure ?? undefined,
    problems,
  });
}

function boundedProblem({ code, path, message, cure }: Problem): Problem {
  return { code: bounded(code, 200), ...(path === undefined ? {} : { path: bounded(path, 200) }), message: bounded(message, MAX_ERROR_MESSAGE), cure: bounded(cure, MAX_ERROR_MESSAGE) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
