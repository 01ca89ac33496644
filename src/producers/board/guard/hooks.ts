/** The guard's place in the server: before every route, and on every answer. */
import type { FastifyInstance } from "fastify";
import { Guard, type GuardOptions } from "./guard.js";

/** Everything that a page loads is ours, in files: nothing inline, nothing from elsewhere. A route may set another one. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

declare module "fastify" {
  interface FastifyInstance {
    guard: Guard;
  }
}

export function addGuard(server: FastifyInstance, options: GuardOptions): void {
  const guard = new Guard(options);
  server.decorate("guard", guard);
  server.addHook("onRequest", (request, reply) => guard.check(request, reply));
  server.addHook("onSend", async (_request, reply) => {
    reply.headers({ "x-content-type-options": "nosniff", "x-frame-options": "DENY", "referrer-policy": "same-origin" });
    if (!reply.hasHeader("content-security-policy")) reply.header("content-security-policy", CONTENT_SECURITY_POLICY);
  });
}
