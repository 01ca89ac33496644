import fastifyCookie from "@fastify/cookie";
import fastify, { type InjectOptions } from "fastify";
import { afterEach, describe, expect, test } from "vitest";
import { Guard, SESSION_COOKIE, isLoopback } from "../../../../src/producers/board/guard.js";

const servers: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function ask(token: string | null, request: InjectOptions): Promise<number> {
  const server = fastify();
  servers.push(server);
  const guard = new Guard({ token });
  await server.register(fastifyCookie);
  server.addHook("onRequest", (req, reply) => guard.check(req, reply));
  for (const url of ["/", "/healthz"]) server.route({ method: ["GET", "POST"], url, config: { open: url === "/healthz" }, handler: async () => "ok" });
  return (await server.inject({ method: "GET", url: "/", ...request })).statusCode;
}

describe("with a token", () => {
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  test("programs send it", async () => {
    expect(await ask("t0ken", bearer("t0ken"))).toBe(200);
    expect(await ask("t0ken", { method: "POST", ...bearer("t0ken") })).toBe(200);
    for (const wrong of ["T0ken", "t0ken2", "", " "]) expect(await ask("t0ken", bearer(wrong))).toBe(401);
    expect(await ask("t0ken", {})).toBe(401);
  });
  test("browsers are led to the login, and then come with a cookie", async () => {
    expect(await ask("t0ken", { headers: { accept: "text/html" } })).toBe(302);
    const session = new Guard({ token: "t0ken" }).session();
    expect(session).not.toContain("t0ken");
    expect(await ask("t0ken", { cookies: { [SESSION_COOKIE]: session } })).toBe(200);
    expect(await ask("other", { cookies: { [SESSION_COOKIE]: session } })).toBe(401);
  });
  test("a cookie from another origin changes nothing", async () => {
    const cookies = { [SESSION_COOKIE]: new Guard({ token: "t0ken" }).session() };
    expect(await ask("t0ken", { method: "POST", cookies, headers: { origin: "http://evil.example", host: "board.example" } })).toBe(403);
    expect(await ask("t0ken", { method: "POST", cookies, headers: { origin: "null", host: "board.example" } })).toBe(403);
    expect(await ask("t0ken", { method: "POST", cookies, headers: { origin: "http://board.example", host: "board.example" } })).toBe(200);
  });
  test("/healthz is open", async () => expect(await ask("t0ken", { url: "/healthz" })).toBe(200));
});

describe("without a token", () => {
  test("only names of loopback are answered", async () => {
    expect(await ask(null, { headers: { host: "127.0.0.1:3000" } })).toBe(200);
    expect(await ask(null, { headers: { host: "localhost:3000" } })).toBe(200);
    expect(await ask(null, { headers: { host: "[::1]:3000" } })).toBe(200);
    expect(await ask(null, { headers: { host: "evil.example:3000" } })).toBe(403);
  });
  test("another page in the same browser changes nothing", async () => {
    expect(await ask(null, { method: "POST", headers: { host: "localhost:3000", origin: "http://localhost:9999" } })).toBe(403);
  });
});

test("loopback names", () => {
  for (const host of ["127.0.0.1", "127.1.2.3", "localhost", "::1"]) expect(isLoopback(host)).toBe(true);
  for (const host of ["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.evil.example", "board"]) expect(isLoopback(host)).toBe(false);
});
