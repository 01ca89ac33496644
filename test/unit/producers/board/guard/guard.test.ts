import fastifyCookie from "@fastify/cookie";
import fastify, { type InjectOptions } from "fastify";
import { afterEach, describe, expect, test } from "vitest";
import { CSRF_HEADER, Guard, SESSION_COOKIE, type GuardOptions } from "../../../../../src/producers/board/guard/guard.js";
import { isLoopback } from "../../../../../src/producers/board/guard/same-origin.js";

const servers: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const TOKEN: GuardOptions = { apiToken: "t0ken", trustedUserHeader: null, trustedProxies: [] };
const LOOPBACK: GuardOptions = { ...TOKEN, apiToken: null };
const PROXY: GuardOptions = { apiToken: null, trustedUserHeader: "X-Auth-User", trustedProxies: ["10.1.0.0/16", "::1"] };

async function ask(guard: Guard, request: InjectOptions): Promise<number> {
  const server = fastify();
  servers.push(server);
  await server.register(fastifyCookie);
  server.addHook("onRequest", (req, reply) => guard.check(req, reply));
  server.route({ method: ["GET", "POST"], url: "/", handler: async () => "ok" });
  server.route({ method: ["GET", "POST"], url: "/healthz", config: { open: true }, handler: async () => "ok" });
  server.route({ method: ["GET", "POST"], url: "/queues", config: { csrfToken: false }, handler: async () => "ok" });
  return (await server.inject({ method: "GET", url: "/", ...request, headers: { host: "board.example", ...request.headers } })).statusCode;
}

const own = { origin: "http://board.example" };
const foreign: Record<string, string>[] = [
  { origin: "http://evil.example" },
  { origin: "null" },
  { origin: "http://board.example:81" },
  { origin: "http://board.example", "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
  { "sec-fetch-site": "none" },
];

describe("with a token", () => {
  const guard = new Guard(TOKEN);
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  test("programs send it", async () => {
    expect(await ask(guard, bearer("t0ken"))).toBe(200);
    expect(await ask(guard, { method: "POST", ...bearer("t0ken") })).toBe(200);
    for (const wrong of ["T0ken", "t0ken2", "", " "]) expect(await ask(guard, bearer(wrong))).toBe(401);
    expect(await ask(guard, {})).toBe(401);
    expect(await ask(guard, { url: "/nowhere" })).toBe(401);
  });
  test("browsers are led to the login, and then come with a cookie", async () => {
    expect(await ask(guard, { headers: { accept: "text/html" } })).toBe(302);
    const session = guard.session();
    expect(session).not.toContain("t0ken");
    expect(await ask(guard, { cookies: { [SESSION_COOKIE]: session } })).toBe(200);
    expect(await ask(new Guard({ ...TOKEN, apiToken: "other" }), { cookies: { [SESSION_COOKIE]: session } })).toBe(401);
  });
  test("a cookie changes something only from our own page, with the text that it alone can read", async () => {
    const cookies = { [SESSION_COOKIE]: guard.session() };
    const csrf = { [CSRF_HEADER]: guard.csrfToken() };
    for (const headers of foreign) expect(await ask(guard, { method: "POST", cookies, headers: { ...headers, ...csrf } })).toBe(403);
    expect(await ask(guard, { method: "POST", cookies, headers: csrf })).toBe(403);
    expect(await ask(guard, { method: "POST", cookies, headers: own })).toBe(403);
    expect(await ask(guard, { method: "POST", cookies, headers: { ...own, [CSRF_HEADER]: guard.session() } })).toBe(403);
    expect(await ask(guard, { method: "POST", cookies, headers: { ...own, ...csrf } })).toBe(200);
    expect(await ask(guard, { method: "POST", cookies, headers: { "sec-fetch-site": "same-origin", ...csrf } })).toBe(200);
    // Bull Board's page knows nothing of the text.
    expect(await ask(guard, { method: "POST", url: "/queues", cookies, headers: own })).toBe(200);
    for (const headers of foreign) expect(await ask(guard, { method: "POST", url: "/queues", cookies, headers })).toBe(403);
  });
  test("open routes are open, but not to other sites' forms", async () => {
    expect(await ask(guard, { url: "/healthz" })).toBe(200);
    expect(await ask(guard, { url: "/healthz", method: "POST" })).toBe(200);
    expect(await ask(guard, { url: "/healthz", method: "POST", headers: { origin: "http://evil.example" } })).toBe(403);
  });
  test("a proxy's header means nothing when no proxy is trusted", async () => expect(await ask(guard, { headers: { "x-auth-user": "eve" } })).toBe(401));
});

describe("without a token", () => {
  const guard = new Guard(LOOPBACK);
  test("only names of loopback are answered", async () => {
    for (const host of ["127.0.0.1:3000", "localhost:3000", "[::1]:3000"]) expect(await ask(guard, { headers: { host } })).toBe(200);
    for (const host of ["evil.example:3000", "localhost.evil.example", "0.0.0.0"]) expect(await ask(guard, { headers: { host } })).toBe(403);
    expect(await ask(guard, { url: "/healthz", headers: { host: "evil.example" } })).toBe(403);
  });
  test("programs need nothing, another page in the same browser changes nothing", async () => {
    const host = "localhost:3000";
    expect(await ask(guard, { method: "POST", headers: { host } })).toBe(200);
    expect(await ask(guard, { method: "POST", headers: { host, origin: "http://localhost:9999" } })).toBe(403);
    expect(await ask(guard, { method: "POST", headers: { host, origin: "http://localhost:3000" } })).toBe(403);
    expect(await ask(guard, { method: "POST", headers: { host, origin: "http://localhost:3000", [CSRF_HEADER]: guard.csrfToken() } })).toBe(200);
  });
});

describe("behind a proxy that names users", () => {
  const guard = new Guard(PROXY);
  const headers = { "x-auth-user": "ada" };
  test("on its own connections only", async () => {
    for (const remoteAddress of ["10.1.2.3", "::ffff:10.1.2.3", "::1"]) expect(await ask(guard, { remoteAddress, headers })).toBe(200);
    for (const remoteAddress of ["10.2.0.1", "127.0.0.1", "::ffff:10.2.0.1"]) expect(await ask(guard, { remoteAddress, headers: { ...headers, "x-forwarded-for": "10.1.2.3" } })).toBe(401);
    expect(await ask(guard, { remoteAddress: "10.1.2.3" })).toBe(401);
    expect(await ask(guard, { remoteAddress: "10.1.2.3", headers: { "x-auth-user": " " } })).toBe(401);
    expect(await ask(guard, { remoteAddress: "10.1.2.3", headers: { accept: "text/html" } })).toBe(401);
  });
  test("its users' browsers are guarded like others", async () => {
    const post = (more: Record<string, string>) => ask(guard, { method: "POST", remoteAddress: "10.1.2.3", headers: { ...headers, ...more } });
    expect(await post({ origin: "http://evil.example", [CSRF_HEADER]: guard.csrfToken() })).toBe(403);
    expect(await post(own)).toBe(403);
    expect(await post({ ...own, [CSRF_HEADER]: guard.csrfToken() })).toBe(200);
  });
});

test("loopback names", () => {
  for (const host of ["127.0.0.1", "127.1.2.3", "localhost", "::1"]) expect(isLoopback(host)).toBe(true);
  for (const host of ["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.evil.example", "board"]) expect(isLoopback(host)).toBe(false);
});
