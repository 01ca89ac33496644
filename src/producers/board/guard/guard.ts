/**
 * Who may use the board and its API:
 *
 * - programs by `Authorization: Bearer TOKEN`;
 * - browsers by a session cookie, after a login with the token;
 * - users whom a proxy has checked, by its header (`DROVER_TRUSTED_USER_HEADER`);
 * - without any of these settings, whoever is on this host: the board then listens on loopback only, and answers to
 *   loopback names only, so that a foreign name which is made to point here (DNS rebinding) leads nowhere.
 *
 * But for the bearer token a browser gives all of these by itself, also when another site's page asks. So a request that changes
 * something must come from one of our own pages (Origin, Sec-Fetch-Site) and, where the route is ours, bring a text
 * that only our pages can read (`csrfToken`, from `GET /session`).
 */
import { randomBytes } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Config } from "../../../shared/config.js";
import { refusal, sendProblem, type RefusalCode } from "../../api/problem.js";
import { changesSomething, fromBrowser, fromOwnPage, hostName, isLoopback } from "./same-origin.js";
import { derived, sameSecret } from "./secrets.js";
import { TrustedHeader } from "./trusted-header.js";

export const SESSION_COOKIE = "drover_session";
export const CSRF_HEADER = "x-drover-csrf";

export type GuardOptions = Pick<Config, "apiToken" | "trustedUserHeader" | "trustedProxies">;

/** How somebody came in. */
type Entrance = "bearer" | "session" | "proxy" | "loopback";

export class Guard {
  private readonly token: string | null;
  private readonly trustedHeader: TrustedHeader | null;
  /** Without a token nobody else can make the same session or CSRF text, and they last as long as this process. */
  private readonly secret: string;

  constructor(options: GuardOptions) {
    this.token = options.apiToken;
    this.trustedHeader = options.trustedUserHeader === null ? null : new TrustedHeader({ header: options.trustedUserHeader, proxies: options.trustedProxies });
    this.secret = options.apiToken ?? randomBytes(32).toString("base64url");
  }

  async check(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const { open, csrfToken } = request.routeOptions.config;
    if (this.onLoopbackOnly && !isLoopback(hostName(request))) return await refuse(reply, "FORBIDDEN", "without a token the board answers to loopback names only");
    const entrance = this.entrance(request);
    if (entrance === null && open !== true) return await this.refuseStranger(request, reply);
    if (entrance === "bearer" || !changesSomething(request) || (entrance === "loopback" && !fromBrowser(request))) return undefined;
    if (!fromOwnPage(request) && (entrance !== null || fromBrowser(request))) return await refuse(reply, "FORBIDDEN", "a request from another origin");
    if (open === true || csrfToken === false || this.isCsrfToken(request.headers[CSRF_HEADER])) return undefined;
    return await refuse(reply, "FORBIDDEN", `a browser's request must bring the header ${CSRF_HEADER}`, "read it from GET /session; programs send the bearer token instead of a cookie");
  }

  /** Who the request is from; null where there are no names. */
  user(request: FastifyRequest): string | null {
    return this.trustedHeader?.user(request.socket.remoteAddress, request.headers) ?? null;
  }

  isToken(given: string | undefined): boolean {
    return this.token !== null && given !== undefined && sameSecret(given, this.token);
  }

  /** What a browser keeps in the token's place: of use for this board only, and only while the token is the same. */
  session(): string {
    return derived(this.secret, "drover board session 1");
  }

  /** What our own pages send with requests that change something. */
  csrfToken(): string {
    return derived(this.secret, "drover board csrf 1");
  }

  private get onLoopbackOnly(): boolean {
    return this.token === null && this.trustedHeader === null;
  }

  private entrance(request: FastifyRequest): Entrance | null {
    if (this.onLoopbackOnly) return "loopback";
    if (this.isToken(bearerOf(request))) return "bearer";
    if (this.user(request) !== null) return "proxy";
    const cookie = request.cookies[SESSION_COOKIE];
    return this.token !== null && cookie !== undefined && sameSecret(cookie, this.session()) ? "session" : null;
  }

  private isCsrfToken(given: string | string[] | undefined): boolean {
    return typeof given === "string" && sameSecret(given, this.csrfToken());
  }

  private async refuseStranger(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const page = request.method === "GET" && (request.headers.accept ?? "").includes("text/html");
    if (page && this.token !== null) return await reply.redirect("/login");
    if (this.token === null) return await refuse(reply, "UNAUTHORIZED", "the proxy in front of the board names no user");
    return await refuse(reply.header("www-authenticate", "Bearer"), "UNAUTHORIZED", "a bearer token is needed", "send Authorization: Bearer, with the text of DROVER_API_TOKEN");
  }
}

async function refuse(reply: FastifyReply, code: RefusalCode, detail: string, cure?: string): Promise<FastifyReply> {
  return await sendProblem(reply, refusal(code, detail, cure));
}

function bearerOf(request: FastifyRequest): string | undefined {
  return /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
}
