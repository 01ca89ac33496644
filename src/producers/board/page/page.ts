/** `/`: the progress page, and its files. uPlot is served from its package. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type { BoardPlugin } from "../plugin.js";
import { shell } from "./shell.js";

const ASSETS = new URL("../assets/", import.meta.url);
const UPLOT = new URL(".", pathToFileURL(createRequire(import.meta.url).resolve("uplot/package.json")));
const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";

const FILES = [
  // The login page has it, too.
  { route: "/assets/board.css", file: new URL("board.css", ASSETS), type: STYLE, open: true },
  { route: "/assets/board.js", file: new URL("board.js", ASSETS), type: SCRIPT, open: false },
  { route: "/assets/card.js", file: new URL("card.js", ASSETS), type: SCRIPT, open: false },
  { route: "/assets/charts.js", file: new URL("charts.js", ASSETS), type: SCRIPT, open: false },
  { route: "/assets/figures.js", file: new URL("figures.js", ASSETS), type: SCRIPT, open: false },
  { route: "/assets/uplot.js", file: new URL("dist/uPlot.esm.js", UPLOT), type: SCRIPT, open: false },
  { route: "/assets/uplot.css", file: new URL("dist/uPlot.min.css", UPLOT), type: STYLE, open: false },
  { route: "/assets/uplot-licence.txt", file: new URL("LICENSE", UPLOT), type: "text/plain; charset=utf-8", open: false },
] as const;

export const pagePlugin: BoardPlugin = async (scope, { config }) => {
  const page = shell({ readOnly: config.boardReadOnly });
  scope.get("/", async (_request, reply) => reply.type("text/html; charset=utf-8").header("cache-control", "no-cache").send(page));
  for (const { route, file, type, open } of FILES) {
    const content = await readFile(file);
    scope.get(route, { config: { open } }, async (_request, reply) => reply.type(type).header("cache-control", "no-cache").send(content));
  }
};
