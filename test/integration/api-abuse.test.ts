/** The board as a process of its own, and people who mean it no good: refused or bounded, and it serves others meanwhile. */
import { once } from "node:events";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { testContext } from "../support/context.js";
import { DroverService, ensureBuilt } from "./cli-process.js";

const TOKEN = "the-t0ken-of-this-test";
const bearer = { authorization: `Bearer ${TOKEN}` };

beforeAll(ensureBuilt, 180_000);

test("no token, a wrong one, another origin, 10 MB, a thousand connections, a slow one", { timeout: 120_000 }, async () => {
  await using ctx = await testContext();
  await using service = new DroverService(["board", "--port", "0", "--host", "127.0.0.1", "--json"], { env: { ...ctx.env, DROVER_API_TOKEN: TOKEN } });
  await service.says('"url"');
  const board = new URL((JSON.parse(service.output().stdout) as { url: string }).url);
  const ask = (path: string, init: RequestInit = {}) => fetch(new URL(path, board), { redirect: "manual", ...init });
  /** Somebody else's request meanwhile, on a connection of its own. */
  const serves = async () => {
    const began = performance.now();
    const response = await new Promise<{ statusCode?: number | undefined }>((resolve, reject) => request(new URL("/api/v1/migrations", board), { agent: false, headers: bearer }, (r) => resolve(r.resume())).on("error", reject).end());
    expect(response.statusCode).toBe(200);
    return performance.now() - began;
  };
  await serves();

  // Every route but the open ones is closed; also those that do not exist, so that nobody learns which do.
  const closed = ["/", "/progress.json", "/session", "/api/v1/migrations", "/api/v1/openapi.json", "/queues", "/queues/api/queues", "/queues/static/x.js", "/nowhere", "/x//y", "/%2e%2e/etc/passwd"];
  for (const path of closed) {
    for (const authorization of [undefined, "Bearer wrong", `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(0, -1)}`, `Basic ${btoa(`:${TOKEN}`)}`, TOKEN]) {
      const answer = await ask(path, authorization === undefined ? {} : { headers: { authorization } });
      expect({ path, authorization, status: answer.status }).toEqual({ path, authorization, status: 401 });
      expect(await answer.json()).toMatchObject({ code: "UNAUTHORIZED" });
    }
  }
  for (const method of ["POST", "PUT", "DELETE", "PATCH"]) expect((await ask("/api/v1/migrations/shop", { method })).status).toBe(401);
  expect((await ask("/api/v1/migrations", { method: "OPTIONS", headers: { origin: "http://evil.example", "access-control-request-method": "POST" } })).headers.get("access-control-allow-origin")).toBeNull();

  // A browser that is logged in, led here by another site's page.
  const login = await ask("/login", { method: "POST", body: new URLSearchParams({ token: TOKEN }), headers: { origin: board.origin } });
  const cookie = login.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  expect((await ask("/login", { method: "POST", body: new URLSearchParams({ token: TOKEN }), headers: { origin: "http://evil.example" } })).status).toBe(403);
  const { csrfToken } = (await (await ask("/session", { headers: { cookie } })).json()) as { csrfToken: string };
  const stop = (path: string, headers: Record<string, string>) => ask(path, { method: path.startsWith("/queues") ? "PUT" : "POST", headers: { cookie, ...headers } });
  for (const path of ["/api/v1/migrations/shop/stop", "/queues/api/queues/control/pause"]) {
    for (const origin of ["http://evil.example", "null", "https://127.0.0.1", `http://127.0.0.1:${Number(board.port) + 1}`]) expect((await stop(path, { origin, "x-drover-csrf": csrfToken })).status).toBe(403);
    expect((await stop(path, { "x-drover-csrf": csrfToken })).status).toBe(403);
  }
  expect((await stop("/api/v1/migrations/shop/stop", { origin: board.origin })).status).toBe(403);
  expect((await stop("/api/v1/migrations/shop/stop", { origin: board.origin, "x-drover-csrf": csrfToken })).status).toBe(404);

  // 10 MB: refused by its announced length, by its real one, and before it is read when there is no token.
  const large = Buffer.alloc(10_000_000, 0x20);
  const json = { "content-type": "application/json" };
  expect(await post(board, "/api/v1/migrations", { ...bearer, ...json, "content-length": String(large.length) })).toBe(413);
  expect(await post(board, "/api/v1/migrations", { ...json, "content-length": String(large.length) })).toBe(401);
  expect([413, "cut off"]).toContain(await post(board, "/api/v1/migrations", { ...bearer, ...json }, large));
  expect([401, "cut off"]).toContain(await post(board, "/api/v1/migrations", json, large));
  expect([413, "cut off"]).toContain(await post(board, "/login", { "content-type": "application/x-www-form-urlencoded" }, large));
  expect((await ask("/api/v1/migrations", { headers: { ...bearer, "x-long": "x".repeat(20_000) } })).status).toBe(431);
  await serves();

  // A thousand connections that say nothing, or the head of a request letter by letter, or half a body.
  const held = await Promise.all(Array.from({ length: 1_000 }, (_, i) => hold(board, i)));
  try {
    const open = () => held.filter((socket) => !socket.destroyed).length;
    const slow = setInterval(() => {
      for (const [i, socket] of held.entries()) if (i % 3 === 1 && !socket.destroyed) socket.write("x");
    }, 500);
    try {
      await expect.poll(open, { timeout: 10_000 }).toBeLessThanOrEqual(512);
      // Ended one after another by the board, whose bound on a head is 5 s; a request under way may take 30 s.
      for (let i = 0; i < 8; i++) {
        expect(await serves()).toBeLessThan(5_000);
        await sleep(1_000);
      }
      await expect.poll(() => held.filter((socket, i) => i % 3 !== 2 && !socket.destroyed).length, { timeout: 20_000 }).toBe(0);
    } finally {
      clearInterval(slow);
    }
  } finally {
    for (const socket of held) socket.destroy();
  }
  await serves();
  expect(service.child.exitCode).toBeNull();
  expect(service.output().stderr).not.toContain(TOKEN);
  expect((await service.end()).exitCode).toBe(0);
});

/** The status of a request whose body is written without a look at whether anybody reads it; without a body, of its head alone. */
async function post(board: URL, path: string, headers: Record<string, string>, body?: Buffer): Promise<number | "cut off" | undefined> {
  return await new Promise((resolve, reject) => {
    const req = request(new URL(path, board), { method: "POST", agent: false, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
      req.destroy();
    });
    // The board answers and closes while the body is still being written: the answer may be lost on the way.
    req.on("error", (error: NodeJS.ErrnoException) => (error.code === "EPIPE" || error.code === "ECONNRESET" ? resolve("cut off") : reject(error)));
    if (body === undefined) req.flushHeaders();
    else req.end(body);
  });
}

async function hold(board: URL, i: number): Promise<Socket> {
  const socket = connect(Number(board.port), board.hostname);
  socket.on("error", () => undefined);
  await Promise.race([once(socket, "connect"), once(socket, "close")]);
  if (socket.destroyed) return socket;
  if (i % 3 === 1) socket.write("GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ");
  if (i % 3 === 2) socket.write(`POST /api/v1/migrations HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`);
  socket.resume();
  return socket;
}
