/** `/api/v1`: a route for each operation, and the OpenAPI document of them all. */
import type { FastifyInstance, FastifyReply } from "fastify";
import type { DroverClient } from "../client/drover-client.js";
import { openApiDocument } from "./openapi.js";
import type { Operation } from "./operation.js";
import { cutoverOperations } from "./operations/cutover.js";
import { diffScheduleOperations } from "./operations/diff-schedules.js";
import { diffOperations } from "./operations/diffs.js";
import { migrationOperations } from "./operations/migrations.js";
import { refusal, sendProblem } from "./problem.js";

const BASE = "/api/v1";
const OPERATIONS: readonly Operation[] = [...migrationOperations, ...diffOperations, ...diffScheduleOperations, ...cutoverOperations];

/** Each of these looks at the servers several times a second. */
const WAITS_AT_ONCE = 32;

export function apiPlugin(scope: FastifyInstance, { client }: { client: DroverClient }): void {
  // JSON only: a form of another site cannot send that.
  scope.removeContentTypeParser(["text/plain", "application/x-www-form-urlencoded"]);
  let waits = 0;
  for (const operation of OPERATIONS) {
    scope.route({
      method: operation.method,
      url: BASE + operation.path.replace(/\{(\w+)\}/g, ":$1"),
      handler: async (request, reply) => {
        if (operation.waits === true && waits >= WAITS_AT_ONCE)
          return await sendProblem(reply.header("retry-after", "1"), refusal("TOO_MANY", `${WAITS_AT_ONCE} requests wait already`, "ask again in a moment, or read the status now and then instead"));
        if (operation.waits === true) waits++;
        try {
          const call = { params: request.params as Record<string, string>, query: request.query, body: request.body, signal: goneSignal(reply) };
          const { status, body, headers = {} } = await operation.run(client, call);
          return await reply.code(status).headers({ "cache-control": "no-store", ...headers }).send(body);
        } finally {
          if (operation.waits === true) waits--;
        }
      },
    });
  }
  const document = openApiDocument({ base: BASE, operations: OPERATIONS });
  scope.get(`${BASE}/openapi.json`, async (_request, reply) => reply.type("application/json").send(document));
}

/** Fires when the caller has closed the connection before the answer was sent. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) controller.abort(new Error("the caller has gone"));
  });
  return controller.signal;
}
