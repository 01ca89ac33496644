/** The package's entry `drover/client` as another program meets it, and the examples, against a real board. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { beforeAll, expect, test } from "vitest";
import type { DiffReport } from "../../src/producers/index.js";
import { testContext } from "../support/context.js";
import { ApiScene } from "./api-scene.js";
import { ensureBuilt } from "./cli-process.js";
import { createOrders, openWorker, shopSpec } from "./client-scene.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TOKEN = "entry-t0ken";

beforeAll(ensureBuilt, 180_000);

/** Writes down what Node loads. */
const LOADER = `import { appendFileSync } from "node:fs";
export async function load(url, context, next) { appendFileSync(process.env.LOADED, url + "\\n"); return next(url, context); }`;

const USE_HTTP = `import { DroverHttpClient, DroverError } from "drover/client";
const drover = new DroverHttpClient({ url: process.env.DROVER_API_URL, token: process.env.DROVER_API_TOKEN });
const spec = JSON.parse(process.env.SPEC);
const first = await drover.startMigration(spec, { preflight: true });
const again = await drover.startMigration(spec);
const conflict = await drover.startMigration({ ...spec, mode: "copy" }).catch((error) => error);
const invalid = await drover.startMigration({ ...spec, colour: 1 }).catch((error) => error);
const phases = new Set();
const status = await drover.waitFor(spec.id, "caught-up", { timeout: 60_000, onStatus: (s) => phases.add(s.phase) });
const never = await drover.waitFor(spec.id, "stopped", { timeout: 300 }).catch((error) => error);
const { diffId } = await drover.startDiff(spec.id, { maxSamples: 1 });
const report = await drover.waitForDiff(spec.id, diffId, { timeout: 60_000 });
const repair = await drover.repairDiff(spec.id, diffId, { timeout: 60_000 });
const stranger = await new DroverHttpClient({ url: process.env.DROVER_API_URL, token: "wrong" }).status(spec.id).catch((error) => error);
const nowhere = await new DroverHttpClient({ url: "http://127.0.0.1:1" }).waitFor(spec.id, "copied").catch((error) => error);
const list = await drover.listMigrations();
const errors = [conflict, invalid, never, stranger, nowhere].map((e) => (e instanceof DroverError ? { code: e.code, problems: e.problems } : String(e)));
console.log(JSON.stringify({ first, again, phases: [...phases], status, report, repair, errors, ids: list.migrations.map((m) => m.id), diffs: (await drover.listDiffs(spec.id)).length }));`;

const ENQUEUE = `import { DroverClient } from "drover/client";
const drover = new DroverClient({ redisUrl: process.env.DROVER_REDIS_URL, prefix: process.env.DROVER_PREFIX });
console.log(JSON.stringify(await drover.startMigration(JSON.parse(process.env.SPEC))));
await drover.close();`;

test("drover/client starts, watches and compares, and loads neither a MySQL driver nor worker code", { timeout: 300_000 }, async () => {
  await using ctx = await testContext();
  await createOrders(ctx, 500);
  await using api = await ApiScene.open(ctx, { DROVER_API_TOKEN: TOKEN });
  await using _worker = await openWorker(ctx);
  const env = { DROVER_API_URL: api.url, DROVER_API_TOKEN: TOKEN, SPEC: JSON.stringify(shopSpec(ctx)) };
  const { result, loaded } = await runModule<{ errors: { code: string; problems: { path?: string }[] }[] }>(USE_HTTP, env);
  expect(result).toMatchObject({
    first: { id: "shop", known: null, accepted: true }, again: { known: expect.any(String) },
    status: { phase: expect.stringMatching(/catching-up|streaming/) }, report: { state: "completed", hasMismatch: false },
    repair: { state: "completed", repaired: 0 }, ids: ["shop"], diffs: 1,
  });
  expect(result.errors.map((error) => error.code)).toEqual(["MIGRATION_CONFLICT", "SPEC_INVALID", "TIMEOUT", "CONFIG_INVALID", "CONNECTION_LOST"]);
  expect(result.errors[1]?.problems).toMatchObject([{ path: "colour" }]);
  expect(foreign(loaded)).toEqual([]);

  const enqueue = await runModule(ENQUEUE, { ...env, DROVER_REDIS_URL: ctx.redisUrl, DROVER_PREFIX: ctx.prefix });
  expect(enqueue.result).toMatchObject({ id: "shop", accepted: true, known: expect.any(String) });
  expect(foreign(enqueue.loaded)).toEqual([]);

  // The examples, on the migration that runs already.
  await ctx.target.query(`UPDATE ${ctx.schema}.orders SET note = 'other' WHERE id = 7`);
  const folder = await mkdtemp(join(tmpdir(), "drover-examples-"));
  try {
    const spec = join(folder, "spec.json");
    const bad = join(folder, "bad.json");
    await writeFile(spec, JSON.stringify(shopSpec(ctx)));
    await writeFile(bad, JSON.stringify({ ...shopSpec(ctx), colour: "red" }));
    const programs = [["python3", "examples/python/drover.py"], ["sh", "examples/curl.sh"]].filter(([program]) => isThere(program === "sh" ? "curl" : (program ?? "")));
    for (const [program = "", file = ""] of programs) {
      const different = await run(program, [file, spec], env);
      expect({ file, ...different }).toMatchObject({ file, exitCode: 1 });
      expect(JSON.parse(different.stdout) as DiffReport).toMatchObject({ hasMismatch: true, tables: [{ samples: [{ key: { id: "7" } }] }] });
      expect({ file, ...(await run(program, [file, bad], env)) }).toMatchObject({ file, exitCode: 2, stderr: expect.stringContaining("colour") });
      expect({ file, ...(await run(program, [file, spec], { ...env, DROVER_API_TOKEN: "wrong" })) }).toMatchObject({ file, exitCode: 2, stderr: expect.stringContaining("UNAUTHORIZED") });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  expect(await api.ask("POST", "/migrations/shop/stop", undefined, { headers: { authorization: `Bearer ${TOKEN}` } })).toMatchObject({ status: 200 });
});

/** Modules that have no business in a client. */
function foreign(loaded: readonly string[]): string[] {
  return loaded.filter((url) => /node_modules\/(mysql2|@vlasky\/zongji|fastify|pino|@bull-board)\/|\/dist\/(workers|producers\/(board|cli))\//.test(url));
}

/** Runs a module in a Node of its own, in this package, whose exports map decides what `drover/client` is. */
async function runModule<T = unknown>(source: string, env: Record<string, string>): Promise<{ result: T; loaded: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), "drover-entry-"));
  try {
    const loader = pathToFileURL(join(folder, "loader.mjs")).href;
    await writeFile(join(folder, "loader.mjs"), LOADER);
    await writeFile(join(folder, "register.mjs"), `import { register } from "node:module"; register(${JSON.stringify(loader)});`);
    const LOADED = join(folder, "loaded");
    const end = await run(process.execPath, ["--import", pathToFileURL(join(folder, "register.mjs")).href, "--input-type=module", "--eval", source], { ...env, LOADED });
    if (end.exitCode !== 0) throw new Error(end.stderr);
    const loaded = (await readFile(LOADED, "utf8")).split("\n");
    // What it loaded is known at all.
    expect(loaded.some((url) => url.endsWith("/dist/producers/client/index.js"))).toBe(true);
    return { result: JSON.parse(end.stdout) as T, loaded };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function run(program: string, args: readonly string[], env: Record<string, string>): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
  const child = spawn(program, args, { cwd: ROOT, timeout: 90_000, env: { PATH: process.env["PATH"] ?? "", ...env } });
  const text = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text.stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (text.stderr += chunk));
  const [exitCode] = (await once(child, "close")) as [number | null];
  return { exitCode, ...text };
}

function isThere(program: string): boolean {
  return spawnSync(program, ["--version"]).error === undefined;
}
