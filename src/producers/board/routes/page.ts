/** `/`: the progress page, and its files. */
import { readFile } from "node:fs/promises";
import type { BoardPlugin } from "../plugin.js";

const FILES = [
  { route: "/", file: "index.html", type: "text/html; charset=utf-8", open: false },
  // The login page has it, too.
  { route: "/assets/board.css", file: "board.css", type: "text/css; charset=utf-8", open: true },
  { route: "/assets/board.js", file: "board.js", type: "text/javascript; charset=utf-8", open: false },
] as const;

export const pagePlugin: BoardPlugin = async (scope) => {
  for (const { route, file, type, open } of FILES) {
    const content = await readFile(new URL(`../assets/${file}`, import.meta.url));
    scope.get(route, { config: { open } }, async (_request, reply) => reply.type(type).header("cache-control", "no-cache").send(content));
  }
};
