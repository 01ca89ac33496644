/**
 * The contract of the command line, command by command, over the life of one migration: as a newcomer goes (init, grants, check,
 * start), with users that have what `grants` prints and no more. Every JSON document is validated against the file that is
 * published for it in `schema/output/`.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import type { DiffReport, MigrationStatus } from "../../src/producers/index.js";
import { testContext, type TestContext } from "../support/context.js";
import { cli } from "../unit/producers/cli/fake-terminal.js";
import { drover, DroverService, ensureBuilt, type CliEnd } from "./cli-process.js";
import { createOrders } from "./client-scene.js";

beforeAll(ensureBuilt, 180_000);
const folder = mkdtempSync(join(tmpdir(), "drover-contract-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ajv = new Ajv2020({ strict: false });

/** A document as its published schema has it. @throws with every violation */
function valid<T>(name: string, text: string): T {
  const document: unknown = JSON.parse(text);
  const validate = ajv.getSchema(name) ?? ajv.addSchema(JSON.parse(readFileSync(fileURLToPath(new URL(`../../schema/${name}.schema.json`, import.meta.url)), "utf8")) as object, name).getSchema(name);
  expect({ name, valid: validate?.(document), errors: validate?.errors ?? null }).toEqual({ name, valid: true, errors: null });
  return document as T;
}

/** Runs the statements that `grants` printed for one side. @returns the URL of the user that they made */
async function createUser(side: TestContext["source"], statements: readonly string[], user: string): Promise<string> {
  expect(statements[0]).toBe(`CREATE USER '${user}'@'%' IDENTIFIED BY <password>;`);
  await side.query(`SET SESSION sql_log_bin=0; ${statements.join("\n").replace("<password>", "'least-9'")} SET SESSION sql_log_bin=1`);
  return `mysql://${user}:least-9@${side.host}:${side.port}/`;
}

test("the life of a migration", { timeout: 300_000 }, async () => {
  await using ctx = await testContext();
  await createOrders(ctx, 3_000);
  await ctx.source.query(`CREATE TABLE ${ctx.schema}.log (line TEXT); CREATE VIEW ${ctx.schema}.totals AS SELECT SUM(total) AS total FROM ${ctx.schema}.orders`);
  let { env } = ctx;
  /** A process for the first call of each command; the further ones in this process, for time. */
  const called = new Set<string>();
  const run = async (args: readonly string[]): Promise<CliEnd> => {
    const name = args.slice(0, args[0] === "diff" ? 2 : 1).join(" ");
    if (called.has(name)) return await cli(args, { environment: env });
    called.add(name);
    return await drover(args, { env });
  };
  /** Runs a command with `--json` to the exit code that it must have. */
  const json = async <T>(name: string, args: readonly string[], exitCode = 0): Promise<{ document: T; stderr: string }> => {
    const end = await run([...args, "--json"]);
    expect({ args, exitCode: end.exitCode, stderr: exitCode === 0 ? end.stderr : "" }).toEqual({ args, exitCode, stderr: exitCode === 0 ? expect.any(String) : "" });
    return { document: valid<T>(`output/${name}`, end.stdout), stderr: end.stderr };
  };
  /** A command that ends with an error document: of this code, and with a cure, its own or that of each problem. */
  const refused = async (code: string, args: readonly string[], exitCode = 2) => {
    const { error } = (await json<{ error: { code: string; cure: string | null; problems: { cure: string }[] } }>("error", args, exitCode)).document;
    expect(error.code).toBe(code);
    expect([error.cure, ...error.problems.map(({ cure }) => cure)].filter((cure) => cure !== null && cure !== "")).not.toEqual([]);
  };

  // A spec from the live source: what cannot be moved is commented out, with the reason.
  const file = join(folder, "life.yaml");
  // A second try finds the first one's, which `init` does not overwrite.
  rmSync(file, { force: true });
  const init = ["init", "--source", "SRC", "--schema", ctx.schema, "--id", "life"];
  expect((await json<{ tables: unknown[] }>("init", init)).document).toMatchObject({ spec: { id: "life", tables: [{ schema: ctx.schema, include: ["orders"] }] }, tables: [{ table: "log", key: null }, { table: "orders", key: { index: "PRIMARY", columns: ["id"] } }] });
  expect(await run([...init, "--output", file])).toMatchObject({ exitCode: 0, stdout: `${file}\n`, stderr: expect.stringContaining("1 table of 2 needs") });
  await refused("CONFIG_INVALID", [...init, "--output", file]);
  expect(readFileSync(file, "utf8")).toContain("neither a primary key nor a unique key");
  valid("migration-spec", JSON.stringify(parse(readFileSync(file, "utf8"))));
  await refused("NOT_FOUND", ["init", "--source", "SRC", "--schema", "no_such_schema"]);

  // Users with what `grants` prints, and no more: the whole life is theirs.
  const user = `${ctx.id}_least`;
  const grants = (await json<{ source: string[]; target: string[] }>("grants", ["grants", file, "--user", user])).document;
  try {
    env = { ...env, DROVER_CONNECTION_SRC: await createUser(ctx.source, grants.source, user), DROVER_CONNECTION_DST: await createUser(ctx.target, grants.target, user) };
    await life();
  } finally {
    for (const side of [ctx.source, ctx.target]) await side.query(`SET SESSION sql_log_bin=0; DROP USER IF EXISTS '${user}'@'%'; SET SESSION sql_log_bin=1`);
  }

  async function life(): Promise<void> {
    expect((await json("check", ["check", file])).document).toMatchObject({ ok: true });
    writeFileSync(join(folder, "wrong.yaml"), "id: life\nsource: SRC\ntarget: DST\ntabels: []\n");
    expect((await json("check", ["check", join(folder, "wrong.yaml")], 2)).document).toMatchObject({ ok: false, problems: expect.arrayContaining([expect.objectContaining({ code: "tabels", severity: "error" })]) });
    await refused("SPEC_INVALID", ["start", join(folder, "wrong.yaml")]);
    await refused("NOT_FOUND", ["status", "life"]);

    // Nobody is there to do it.
    const queued = await json("start", ["start", file]);
    expect(queued).toMatchObject({ document: { id: "life" }, stderr: expect.stringContaining("no worker is running yet") });
    expect((await json("status", ["status", "life"])).document).toMatchObject({ phase: "planning", stuck: { reason: expect.stringContaining("no worker") } });
    const unanswered = await json<unknown>("error", ["pause", "life", "--timeout", "500ms"], 4);
    expect(unanswered).toMatchObject({ document: { error: { code: "NO_ANSWER", cure: expect.stringContaining("drover worker") } }, stderr: expect.stringContaining("no worker consumes the queue control: start one with `drover worker`") });
    expect((await json("status", ["wait", "life", "--for", "copied", "--timeout", "300ms"], 4)).document).toMatchObject({ id: "life" });

    // The work is shared by queues.
    await using worker = new DroverService(["worker", "--concurrency", "2", "--queues", "control,copy,tail,apply"], { env });
    await using comparer = new DroverService(["worker", "--queues", "diff"], { env });
    // The pause was queued, and is taken up.
    await expect.poll(() => ctx.target.query(`SELECT phase FROM ${ctx.stateSchema}.migrations`), { timeout: 30_000 }).toEqual([{ phase: "paused" }]);
    // Who waits for what stands still hears at once what goes on.
    expect(await json("status", ["wait", "life", "--for", "streaming", "--timeout", "300ms"], 4)).toMatchObject({ document: { phase: "paused" }, stderr: expect.stringContaining("paused; `drover resume life` goes on") });
    expect(await json("error", ["diff", "start", "life"], 2)).toMatchObject({ document: { error: { code: "WRONG_PHASE", cure: expect.stringContaining("`drover resume life` first") } } });
    await json("status", ["resume", "life"]);
    const streaming = (await json<MigrationStatus>("status", ["wait", "life", "--for", "streaming", "--timeout", "90s"])).document;
    expect(streaming).toMatchObject({ id: "life", phase: "streaming", tables: [{ source: `${ctx.schema}.orders`, rowsCopied: 3_000, phase: "copied" }] });
    await json("status", ["wait", "life", "--for", "copied"]);
    await ctx.source.query(`DELETE FROM ${ctx.schema}.orders WHERE id > 2990`);
    await json("status", ["wait", "life", "--for", "caught-up", "--timeout", "60s"]);
    expect(await ctx.target.query(`SELECT COUNT(*) AS n FROM ${ctx.schema}.orders`)).toEqual([{ n: "2990" }]);
    expect((await json<MigrationStatus[]>("status-all", ["status"])).document.map(({ id }) => id)).toEqual(["life"]);
    // It gives up soon, for somebody sits at the keyboard: on a busy machine not every call is in time.
    await expect.poll(async () => (await run(["complete-line", "--", "status", "l"])).stdout, { timeout: 15_000 }).toBe("life\tstreaming\n");
    expect(await json("start", ["start", file])).toMatchObject({ stderr: expect.stringContaining("is there already with this very spec (streaming): nothing was changed") });
    writeFileSync(join(folder, "other.yaml"), readFileSync(file, "utf8").replace("mode: copy+follow", "mode: copy"));
    await refused("MIGRATION_CONFLICT", ["start", join(folder, "other.yaml")]);

    // Equal, different, repaired.
    const { diffId } = (await json<{ diffId: string }>("diff-start", ["diff", "start", "life"])).document;
    expect((await json<DiffReport>("diff", ["diff", "start", "life", "--wait", "--timeout", "90s"])).document).toMatchObject({ state: "completed", hasMismatch: false });
    await ctx.target.query(`UPDATE ${ctx.schema}.orders SET total = 0 WHERE id = 7`);
    const different = (await json<DiffReport>("diff", ["diff", "start", "life", "--wait", "--timeout", "90s"], 1)).document;
    expect(different).toMatchObject({ hasMismatch: true, tables: [{ mismatched: 1, samples: [{ kind: "mismatched", key: { id: "7" }, columns: ["total"] }] }] });
    expect((await json("diff", ["diff", "show", "life"], 1)).document).toMatchObject({ diffId: different.diffId });
    expect((await run(["diff", "show", "life", "last"])).stdout).toContain("(id=7): total");
    expect((await json<DiffReport[]>("diff-list", ["diff", "list", "life"])).document).toHaveLength(3);
    expect((await json("diff-repair", ["diff", "repair", "life", different.diffId, "--dry-run"])).document).toMatchObject({ dryRun: true });
    expect((await json("diff-repair", ["diff", "repair", "life", different.diffId])).document).toMatchObject({ repaired: 1 });
    expect(await ctx.target.query(`SELECT total FROM ${ctx.schema}.orders WHERE id = 7`)).toEqual([{ total: "0.88" }]);
    await refused("WRONG_PHASE", ["diff", "stop", "life", different.diffId]);
    await refused("WRONG_PHASE", ["diff", "resume", "life", different.diffId]);
    expect((await json<DiffReport>("diff", ["diff", "delete", "life", diffId])).document).toMatchObject({ diffId, state: "completed" });
    await refused("NOT_FOUND", ["diff", "show", "life", diffId]);

    await options();
    await lifecycle();

    await using board = new DroverService(["board", "--port", "0", "--json"], { env });
    await board.says("url");
    const { url } = valid<{ url: string }>("output/board", board.output().stdout);
    expect((await fetch(new URL("healthz", url))).status).toBe(200);

    // The end, and what it forbids.
    await refused("WRONG_PHASE", ["remove", "life"]);
    expect((await json("status", ["pause", "life"])).document).toMatchObject({ phase: "paused" });
    await json("status", ["resume", "life"]);
    expect((await json("status", ["stop", "life"])).document).toMatchObject({ phase: "stopped", lagSeconds: null });
    await refused("WRONG_PHASE", ["resume", "life"]);
    const watched = await run(["status", "life", "--watch", "--json"]);
    expect(watched).toMatchObject({ exitCode: 0 });
    expect(valid("output/status", watched.stdout.split("\n", 1)[0] ?? "")).toMatchObject({ phase: "stopped" });
    expect(await run(["status", "life", "--watch"])).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^life {2}stopped.*\n$/) });
    expect((await json("status", ["wait", "life", "--for", "streaming", "--timeout", "5s"], 3)).document).toMatchObject({ phase: "stopped" });
    await json("status", ["wait", "life", "--for", "stopped"]);
    await json("status", ["remove", "life"]);
    expect((await json("status-all", ["status"])).document).toEqual([]);
    await refused("NOT_FOUND", ["wait", "life", "--for", "copied"]);

    // Logs are JSON lines on stderr; stdout is for results. No secret in either. It ends its jobs and itself within 10 s.
    for (const [service, queues] of [[worker, ["control", "copy", "tail", "apply"]], [comparer, ["diff"]]] as const) {
      const { exitCode, took } = await service.end();
      expect(exitCode).toBe(0);
      expect(took).toBeLessThan(10_000);
      const { stdout, stderr } = service.output();
      expect(stdout).toBe("");
      const lines = stderr.trimEnd().split("\n").map((line) => JSON.parse(line) as { msg: string; queues?: string[] });
      for (const line of lines) expect(line).toHaveProperty("msg");
      expect(new Set(lines.find(({ msg }) => msg === "worker started")?.queues)).toEqual(new Set(queues));
      expect(stderr).not.toContain("least-9");
    }
  }

  /** What a comparison is told to look at, and what it shows. */
  async function options(): Promise<void> {
    const orders = `${ctx.schema}.orders`;
    await ctx.target.query(`UPDATE ${orders} SET total = 0, note = 'not shown' WHERE id IN (11, 12, 13, 2900)`);
    const start = ["diff", "start", "life", "--wait", "--timeout", "90s"];
    const some = (await json<DiffReport>("diff", [...start, "--tables", orders, "--where", "id BETWEEN 11 AND 2000", "--max-samples", "1"], 1)).document;
    expect(some).toMatchObject({ state: "completed", tables: [{ source: orders, rowsCompared: 1_990, mismatched: 3, samples: [{ kind: "mismatched", columns: ["total", "note"] }] }] });
    expect(some.tables[0]?.samples[0]).not.toHaveProperty("values");
    const few = (await json<DiffReport>("diff", [...start, "--where", "id > 100", "--max-rows", "50", "--max-duration", "10m"])).document;
    expect(few).toMatchObject({ state: "completed", tables: [{ rowsCompared: 50, mismatched: 0 }] });
    await refused("NOT_FOUND", [...start, "--tables", `${ctx.schema}.no_such_table`]);
    // Held back, it reaches its longest duration, and who waits for it is told.
    const long = (await json<DiffReport>("diff", [...start, "--max-threads-running", "1", "--max-duration", "1s"], 3)).document;
    expect(long).toMatchObject({ state: "stopped", lastError: { message: expect.stringContaining("1000 ms") } });

    const shown = (await json<DiffReport>("diff", ["diff", "show", "life", some.diffId, "--show-values"], 1)).document.tables[0]?.samples;
    const id = shown?.[0]?.key["id"];
    expect(shown).toMatchObject([{ values: { source: { total: (Number(id) / 8).toFixed(2), note: `note ${id}` }, target: { total: "0.00", note: "not shown" } } }]);
    expect((await run(["diff", "show", "life", some.diffId, "--show-values"])).stdout).toContain("not shown");
    expect((await run(["diff", "show", "life", some.diffId])).stdout).not.toContain("not shown");
    expect((await json("diff-repair", ["diff", "repair", "life", some.diffId])).document).toMatchObject({ repaired: 3 });
    await ctx.target.query(`UPDATE ${orders} SET total = id / 8, note = CONCAT('note ', id) WHERE id = 2900`);
  }

  /** A comparison that is stopped and goes on, and one that comes again and again. */
  async function lifecycle(): Promise<void> {
    // The dump of the follow runs all the time, so this one is held back.
    const { diffId } = (await json<{ diffId: string }>("diff-start", ["diff", "start", "life", "--id", "held", "--max-threads-running", "1"])).document;
    expect(diffId).toBe("held");
    await expect.poll(async () => (await json<DiffReport>("diff", ["diff", "show", "life", "held"])).document.state, { timeout: 15_000 }).toBe("running");
    expect((await json("diff", ["diff", "stop", "life", "held"])).document).toMatchObject({ diffId: "held", state: "stopped", attempts: 1 });
    expect((await json("diff", ["diff", "stop", "life", "held"])).document).toMatchObject({ state: "stopped" });
    expect((await json("diff", ["diff", "resume", "life", "held"])).document).toMatchObject({ diffId: "held", state: expect.toBeOneOf(["pending", "running"]) });
    expect((await run(["diff", "stop", "life", "last"])).stdout).toContain("held");

    const schedule = ["diff", "schedule", "life", "--every", "1h", "--name", "hourly", "--keep", "3", "--tables", `${ctx.schema}.orders`, "--max-samples", "7"];
    expect((await json("diff-schedule", schedule)).document).toMatchObject({ id: "life", name: "hourly", every: 3_600_000, keep: 3, options: { tables: [`${ctx.schema}.orders`], maxSamples: 7 } });
    expect((await run(schedule)).stdout).toContain("hourly");
    type Schedules = { name: string; lastDiffId: string | null }[];
    let latest: string | null = null;
    await expect.poll(async () => {
      const schedules = (await json<Schedules>("diff-schedules", ["diff", "schedules", "life"])).document;
      expect(schedules).toMatchObject([{ name: "hourly" }]);
      return (latest = schedules[0]?.lastDiffId ?? null);
    }, { timeout: 30_000 }).not.toBeNull();
    expect((await run(["diff", "schedules", "life"])).stdout).toContain("hourly");
    // The first one comes at once.
    await expect.poll(async () => (await json<DiffReport[]>("diff-list", ["diff", "list", "life"])).document.find((report) => report.diffId === latest)?.state, { timeout: 60_000 }).toBe("completed");
    expect((await json("diff-unschedule", ["diff", "unschedule", "life", "hourly"])).document).toEqual({ id: "life", name: "hourly" });
    expect((await json("diff-schedules", ["diff", "schedules", "life"])).document).toEqual([]);
    expect((await run(["diff", "schedules", "life"])).stdout).toBe("no schedules\n");
    await refused("NOT_FOUND", ["diff", "unschedule", "life", "hourly"]);
  }
});

test("the cut-over", { timeout: 120_000 }, async () => {
  await using ctx = await testContext();
  await createOrders(ctx, 50);
  const { env } = ctx;
  const spec = join(folder, "over.json");
  writeFileSync(spec, JSON.stringify({ id: "over", source: "SRC", target: "DST", tables: [{ schema: ctx.schema }] }));
  const json = async (name: string, args: readonly string[], exitCode: number): Promise<unknown> => {
    const end = await cli([...args, "--json"], { environment: env });
    expect({ args, exitCode: end.exitCode }).toEqual({ args, exitCode });
    return valid(`output/${name}`, end.stdout);
  };
  await using worker = new DroverService(["worker"], { env });
  await json("start", ["start", spec], 0);
  await json("status", ["wait", "over", "--for", "streaming", "--timeout", "60s"], 0);
  expect(await json("cutover", ["cutover", "over", "--dry-run"], 0)).toMatchObject({ state: "checked", ready: true });
  expect(await json("error", ["cutover", "over", "--abort"], 2)).toMatchObject({ error: { code: "NOT_FOUND" } });
  expect(await json("cutover", ["cutover", "over", "--diff", "--timeout", "60s"], 0)).toMatchObject({ state: "completed", error: null, left: [] });
  expect(await json("status", ["status", "over"], 0)).toMatchObject({ phase: "completed" });
  await json("status", ["remove", "over"], 0);
  expect((await worker.end()).exitCode).toBe(0);
});
