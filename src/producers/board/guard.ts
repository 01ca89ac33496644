/**
 * Who may use the board. With a token: a bearer token (programs) or a session cookie (browsers, after a login with the
 * token). Without one the board listens on loopback, and what is left to fear is a web page of somebody else in the
 * user's own browser: a foreign Host (DNS rebinding) or a foreign Origin is refused.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";

export const SESSION_COOKIE = "drover_session";

export class Guard {
  private readonly token: string | null;

  constructor(options: { token: string | null }) {
    this.token = options.token;
  }

  async check(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const byToken = this.token !== null && this.isToken(bearerOf(request));
    if (this.token === null && !isLoopback(hostName(request))) return await refuse(reply, 403, "without a token the board answers to loopback names only");
    if (!byToken && changes(request) && foreignOrigin(request)) return await refuse(reply, 403, "a request from another origin");
    if (this.token === null || byToken || request.routeOptions.config.open === true || this.isSession(request.cookies[SESSION_COOKIE])) return undefined;
    if (request.method === "GET" && (request.headers.accept ?? "").includes("text/html")) return await reply.redirect("/login");
    return await refuse(reply.header("www-authenticate", "Bearer"), 401, "a bearer token is needed (DROVER_API_TOKEN)");
  }

  isToken(given: string | undefined): boolean {
    return this.token !== null && given !== undefined && sameText(given, this.token);
  }

  /** What a browser keeps in the token's place: of use for this board only, and only while the token is the same. */
  session(): string {
    return createHmac("sha256", this.token ?? "").update("drover board session 1").digest("base64url");
  }

  private isSession(given: string | undefined): boolean {
    return this.token !== null && given !== undefined && sameText(given, this.session());
  }
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

function bearerOf(request: FastifyRequest): string | undefined {
  return /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
}

function hostName(request: FastifyRequest): string {
  return (request.headers.host ?? "").replace(/:\d+$/, "");
}

function changes(request: FastifyRequest): boolean {
  return request.method !== "GET" && request.method !== "HEAD";
}

/** Browsers name the origin of every request that changes something; programs need not. */
function foreignOrigin(request: FastifyRequest): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host;
}

/** In a time that does not depend on where they differ, nor on their lengths. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHmac("sha256", "compare").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

async function refuse(reply: FastifyReply, status: 401 | 403, detail: string): Promise<FastifyReply> {
  return await reply.code(status).type("application/problem+json").send({ type: "about:blank", title: status === 401 ? "Unauthorized" : "Forbidden", status, detail });
}
