/** `/healthz`: whether the board can do its work. */
import { DroverError } from "../../../shared/errors.js";
import { redisAnswer } from "../../client/redis-answer.js";
import type { BoardPlugin } from "../plugin.js";

export const healthPlugin: BoardPlugin = (scope, { config, redis }) => {
  scope.get("/healthz", { config: { open: true } }, async (_request, reply) => {
    try {
      await redisAnswer(redis, config.redisUrl, () => redis.ping());
      return { ok: true };
    } catch (error) {
      // Open to everybody, so the code only.
      return await reply.code(503).send({ ok: false, reason: error instanceof DroverError ? error.code : "BUG" });
    }
  });
};
