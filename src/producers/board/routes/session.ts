/** `/session`: who is logged in, and what our pages send with requests that change something. */
import type { BoardPlugin } from "../plugin.js";

export const sessionPlugin: BoardPlugin = (scope) => {
  const { guard } = scope;
  // No other site's page can read the answer: the board allows no other origin (CORS).
  scope.get("/session", async (request, reply) => reply.header("cache-control", "no-store").send({ user: guard.user(request), csrfToken: guard.csrfToken() }));
};
