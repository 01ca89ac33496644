/** Errors as answers: problem documents (RFC 9457) that hold what the error itself says: its code, its cure, all problems. */
import type { FastifyReply } from "fastify";
import type { ProblemDocument } from "../../shared/contracts/problem.js";
import { DroverError, MAX_ERROR_MESSAGE, bounded, type ErrorCode, type Problem } from "../../shared/errors.js";
import { encodedErrorOf } from "../../shared/job-error.js";

/** What HTTP itself refuses, before any command of Drover is reached. */
const REFUSALS = { REQUEST_INVALID: 400, UNAUTHORIZED: 401, FORBIDDEN: 403, NO_SUCH_ROUTE: 404, TOO_LARGE: 413, MEDIA_TYPE: 415, TOO_MANY: 429 } as const;
export type RefusalCode = keyof typeof REFUSALS;

const STATUS: Partial<Record<ErrorCode, number>> = {
  NOT_FOUND: 404, MIGRATION_CONFLICT: 409, DIFF_CONFLICT: 409, WRONG_PHASE: 409, MIGRATION_FAILED: 409, DIFF_FAILED: 409,
  SPEC_INVALID: 422, PREFLIGHT_FAILED: 422, CONFIG_INVALID: 422,
  NO_ANSWER: 504, TIMEOUT: 504, CONNECTION_LOST: 503, REDIS_UNAVAILABLE: 503, SERVER_BUSY: 503, SERVER_UNAVAILABLE: 503, ABORTED: 503,
};

/** A status of Fastify's own refusals, by the code that stands for it. */
const CODES = new Map<number, RefusalCode>(Object.entries(REFUSALS).map(([code, status]) => [status, code as RefusalCode]));

/** What an error is to somebody who asked by HTTP. Of what was not expected no more is told than that. */
export function problemOf(thrown: unknown): ProblemDocument {
  if (thrown instanceof DroverError) {
    const { code, message, cure, problems } = encodedErrorOf(thrown);
    return documentOf(code, STATUS[thrown.code] ?? 500, message, cure, problems);
  }
  const status = (thrown as { statusCode?: unknown } | null)?.statusCode;
  if (typeof status !== "number" || status < 400 || status > 499) return documentOf("BUG", 500, "unexpected error; the board's log says more", null);
  return documentOf(refusalOf(status), status, thrown instanceof Error ? thrown.message : String(thrown), CURES[refusalOf(status)] ?? null);
}

function refusalOf(status: number): RefusalCode {
  return CODES.get(status) ?? "REQUEST_INVALID";
}

/** Of refusals that say what is wrong and not what would be right. */
const CURES: Partial<Record<RefusalCode, string>> = { MEDIA_TYPE: "send JSON, with the header content-type: application/json", TOO_LARGE: "send less; a spec selects many tables by a pattern" };

export function refusal(code: RefusalCode, detail: string, cure: string | null = null): ProblemDocument {
  return documentOf(code, REFUSALS[code], detail, cure);
}

export async function sendProblem(reply: FastifyReply, document: ProblemDocument): Promise<FastifyReply> {
  return await reply.code(document.status).type("application/problem+json").send(document);
}

function documentOf(code: string, status: number, detail: string, cure: string | null, problems: readonly Problem[] = []): ProblemDocument {
  const words = code.toLowerCase().replaceAll("_", " ");
  return {
    type: `urn:drover:problem:${words.replaceAll(" ", "-")}`,
    title: words.replace(/^./, (letter) => letter.toUpperCase()),
    status, detail, code, cure: cure ?? curesOf(problems),
    problems: problems.map((one) => ({ ...one, path: one.path ?? null })),
  };
}

/** Who reads the top alone finds what to do there, too. */
function curesOf(problems: readonly Problem[]): string | null {
  const cures = [...new Set(problems.map((problem) => problem.cure).filter((one) => one !== ""))];
  return cures.length === 0 ? null : bounded(cures.join("; "), MAX_ERROR_MESSAGE);
}
