/** `/`: the progress page, and its files. */
import { readFile } from "node:fs/promises";
import type { FastifyInstance } from "fastify";

/** Everything of the page is ours, in files: nothing inline, nothing from elsewhere. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const FILES = [
  { route: "/", file: "index.html", type: "text/html; charset=utf-8" },
  { route: "/assets/board.css", file: "board.css", type: "text/css; charset=utf-8" },
  { route: "/assets/board.js", file: "board.js", type: "text/javascript; charset=utf-8" },
] as const;

export async function addPageRoutes(server: FastifyInstance): Promise<void> {
  for (const { route, file, type } of FILES) {
    const content = await readFile(new URL(`../assets/${file}`, import.meta.url));
    server.get(route, async (_request, reply) => reply.type(type).header("content-security-policy", CONTENT_SECURITY_POLICY).header("cache-control", "no-cache").send(content));
  }
}
