/** `/healthz`: whether the board can do its work. */
import type { FastifyInstance } from "fastify";
import { DroverError } from "../../../shared/errors.js";
import { redisAnswer } from "../../client/redis-answer.js";
import type { BoardParts } from "../server.js";

export function addHealthRoutes(server: FastifyInstance, { config, redis }: Pick<BoardParts, "config" | "redis">): void {
  server.get("/healthz", async (_request, reply) => {
    try {
      await redisAnswer(config.redisUrl, () => redis.ping());
      return { ok: true };
    } catch (error) {
      // Open to everybody, so the code only.
      return await reply.code(503).send({ ok: false, reason: error instanceof DroverError ? error.code : "BUG" });
    }
  });
}
