/** What the board answers when a route fails, or when there is none. */
import type { FastifyInstance } from "fastify";
import type { Logger } from "../../shared/logger.js";
import { problemOf, refusal, sendProblem } from "../api/problem.js";

export function addErrorAnswers(server: FastifyInstance, log: Logger): void {
  server.setErrorHandler(async (error, request, reply) => {
    const document = problemOf(error);
    // The method and the route's pattern: a query or a body may hold anything.
    if (document.status === 500) log.error({ err: error, method: request.method, route: request.routeOptions.url }, "request failed");
    await sendProblem(reply, document);
  });
  server.setNotFoundHandler(async (request, reply) => {
    await sendProblem(reply, refusal("NO_SUCH_ROUTE", `there is no ${request.method} route of that path`, "GET /api/v1/openapi.json lists the API's"));
  });
}
