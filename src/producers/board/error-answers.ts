/** Errors of routes as answers: RFC 9457 problem documents with Drover's own codes. */
import type { FastifyInstance } from "fastify";
import { DroverError, type ErrorCode } from "../../shared/errors.js";
import { encodedErrorOf } from "../../shared/job-error.js";
import type { Logger } from "../../shared/logger.js";

const STATUS: Partial<Record<ErrorCode, number>> = {
  NOT_FOUND: 404, MIGRATION_CONFLICT: 409, WRONG_PHASE: 409, SPEC_INVALID: 422, PREFLIGHT_FAILED: 422,
  NO_ANSWER: 504, TIMEOUT: 504, CONNECTION_LOST: 503, REDIS_UNAVAILABLE: 503, SERVER_BUSY: 503, SERVER_UNAVAILABLE: 503,
};

export function addErrorAnswers(server: FastifyInstance, log: Logger): void {
  server.setErrorHandler(async (error: Error & { statusCode?: number }, request, reply) => {
    // Fastify's own refusals (too large, not JSON) come with their status.
    const own = error instanceof DroverError ? undefined : error.statusCode;
    const status = own ?? (error instanceof DroverError ? (STATUS[error.code] ?? 500) : 500);
    if (status === 500) log.error({ err: error, method: request.method, route: request.routeOptions.url }, "request failed");
    const { code, message, cure, problems } = encodedErrorOf(error);
    const detail = status === 500 && !(error instanceof DroverError) ? "unexpected error; the board's log says more" : message;
    await reply.code(status).type("application/problem+json").send({ type: "about:blank", title: code, status, detail, code, cure, problems });
  });
}
