/** `/login`: a browser gives the token once, and keeps a session cookie for it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { SESSION_COOKIE, type Guard } from "../guard.js";
import { loginPage } from "../login-page.js";

/** Makes guessing slow; milliseconds. */
const PENALTY = 500;

export function addLoginRoutes(server: FastifyInstance, guard: Guard): void {
  server.get("/login", async (_request, reply) => reply.type("text/html; charset=utf-8").send(loginPage(false)));
  server.post("/login", async (request, reply) => {
    const { token } = (request.body ?? {}) as { token?: unknown };
    if (typeof token !== "string" || !guard.isToken(token)) {
      await sleep(PENALTY);
      return await reply.code(401).type("text/html; charset=utf-8").send(loginPage(true));
    }
    // Strict: no other site's link or form is sent with it.
    reply.setCookie(SESSION_COOKIE, guard.session(), { path: "/", httpOnly: true, sameSite: "strict", secure: request.protocol === "https" });
    return await reply.redirect("/", 303);
  });
}
