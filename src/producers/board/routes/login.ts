/** `/login`: a browser gives the token once, and keeps a session cookie for it. */
import { setTimeout as sleep } from "node:timers/promises";
import { SESSION_COOKIE } from "../guard/guard.js";
import { loginPage } from "../login-page.js";
import type { BoardPlugin } from "../plugin.js";

/** Makes guessing slow; milliseconds. */
const PENALTY = 500;

export const loginPlugin: BoardPlugin = (scope) => {
  const { guard } = scope;
  scope.get("/login", { config: { open: true } }, async (_request, reply) => reply.type("text/html; charset=utf-8").send(loginPage(false)));
  scope.post("/login", { config: { open: true } }, async (request, reply) => {
    const { token } = (request.body ?? {}) as { token?: unknown };
    if (typeof token !== "string" || !guard.isToken(token)) {
      await sleep(PENALTY);
      return await reply.code(401).type("text/html; charset=utf-8").send(loginPage(true));
    }
    // Strict: no other site's link or form is sent with it.
    reply.setCookie(SESSION_COOKIE, guard.session(), { path: "/", httpOnly: true, sameSite: "strict", secure: request.protocol === "https" });
    return await reply.redirect("/", 303);
  });
};
