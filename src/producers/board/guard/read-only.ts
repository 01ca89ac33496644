/** A board that only shows (`DROVER_BOARD_READ_ONLY`): whatever would change something is refused, of whoever asks. */
import type { FastifyInstance } from "fastify";
import { refusal, sendProblem } from "../../api/problem.js";

export function addReadOnly(server: FastifyInstance): void {
  server.addHook("onRequest", async (request, reply) => {
    if (["GET", "HEAD", "OPTIONS"].includes(request.method) || request.routeOptions.config.open === true) return undefined;
    return await sendProblem(reply, refusal("FORBIDDEN", "this board is read-only", "unset DROVER_BOARD_READ_ONLY, or use the command line"));
  });
}
