/** The command line from end to end: what it prints, and how it ends. */
import { writeFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { DiffReport, MigrationStatus } from "../../src/producers/index.js";
import { testContext } from "../support/context.js";
import { drover, DroverService, droverJson, ensureBuilt } from "./cli-process.js";
import { createOrders, shopSpec } from "./client-scene.js";

beforeAll(ensureBuilt, 180_000);

test("start before there is a worker, then one: copy, follow, compare, stop, remove", { timeout: 240_000 }, async () => {
  await using ctx = await testContext();
  const { env } = ctx;
  await createOrders(ctx, 3_000);
  const folder = await mkdtemp(join(tmpdir(), "drover-cli-"));
  try {
    const file = join(folder, "shop.yaml");
    await writeFile(file, `# JSON is YAML, and so are comments\n${JSON.stringify(shopSpec(ctx), null, 2)}\n`);
    expect(await drover(["check", file], { env })).toMatchObject({ exitCode: 0, stderr: "" });

    const start = await drover(["start", file, "--json"], { env });
    expect(start).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("no worker is running yet") });
    expect(JSON.parse(start.stdout)).toEqual({ id: "shop" });
    expect(await droverJson<MigrationStatus>(["status", "shop"], { env })).toMatchObject({ phase: "planning", stuck: { reason: expect.stringContaining("no worker") } });
    expect((await drover(["wait", "shop", "--for", "copied", "--timeout", "300ms"], { env })).exitCode).toBe(4);

    await using worker = new DroverService(["worker", "--concurrency", "2"], { env });
    const streaming = await droverJson<MigrationStatus>(["wait", "shop", "--for", "streaming", "--timeout", "60s"], { env });
    expect(Object.keys(streaming)).toEqual(expect.arrayContaining(["id", "phase", "tables", "position", "lagSeconds", "backlog", "rates", "etaSeconds", "error", "startedAt", "updatedAt"]));
    expect(streaming).toMatchObject({ id: "shop", phase: "streaming", tables: [{ rowsCopied: 3_000 }] });

    await ctx.source.query(`DELETE FROM ${ctx.schema}.orders WHERE id > 2990`);
    expect(await droverJson<MigrationStatus>(["wait", "shop", "--for", "caught-up", "--timeout", "60s"], { env })).toMatchObject({ lagSeconds: expect.any(Number) });
    expect(await ctx.target.query(`SELECT COUNT(*) AS n FROM ${ctx.schema}.orders`)).toEqual([{ n: "2990" }]);

    expect(await droverJson<DiffReport>(["diff", "start", "shop", "--wait", "--timeout", "60s"], { env })).toMatchObject({ state: "completed", hasMismatch: false });
    await ctx.target.query(`UPDATE ${ctx.schema}.orders SET total = 0 WHERE id = 7`);
    const different = await droverJson<DiffReport>(["diff", "start", "shop", "--wait", "--timeout", "60s"], { env }, 1);
    expect(different).toMatchObject({ hasMismatch: true, tables: [{ mismatched: 1, samples: [{ kind: "mismatched", key: { id: "7" }, columns: ["total"] }] }] });
    const shown = await drover(["diff", "show", "shop"], { env });
    expect(shown).toMatchObject({ exitCode: 1, stdout: expect.stringContaining("(id=7): total") });
    expect(await droverJson<DiffReport[]>(["diff", "list", "shop"], { env })).toHaveLength(2);
    expect((await drover(["diff", "repair", "shop", different.diffId], { env })).exitCode).toBe(0);
    expect(await ctx.target.query(`SELECT total FROM ${ctx.schema}.orders WHERE id = 7`)).toEqual([{ total: "0.88" }]);

    // A conflict, a wrong phase, an unknown diff: usage, not failure.
    const other = await drover(["start", "-"], { env, stdin: JSON.stringify(shopSpec(ctx, { mode: "copy" })) });
    expect(other).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("MIGRATION_CONFLICT") });
    expect((await drover(["remove", "shop"], { env })).exitCode).toBe(2);
    expect((await drover(["diff", "show", "shop", "nope"], { env })).exitCode).toBe(2);

    expect(await droverJson<MigrationStatus>(["pause", "shop"], { env })).toMatchObject({ phase: "paused" });
    expect((await droverJson<MigrationStatus>(["resume", "shop"], { env })).phase).toMatch(/catching-up|streaming/);
    expect(await droverJson<MigrationStatus>(["stop", "shop"], { env })).toMatchObject({ phase: "stopped" });
    const watched = await drover(["status", "shop", "--watch", "--json"], { env });
    expect(watched).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(watched.stdout.split("\n", 1)[0] ?? "")).toMatchObject({ phase: "stopped" });
    expect((await drover(["wait", "shop", "--for", "streaming", "--timeout", "5s"], { env })).exitCode).toBe(3);
    expect((await drover(["status"], { env })).stdout).toMatch(/^shop +stopped/m);
    expect((await drover(["remove", "shop"], { env })).exitCode).toBe(0);
    expect(await droverJson<MigrationStatus[]>(["status"], { env })).toEqual([]);

    // Logs are JSON lines on stderr; stdout is for results. No secret in either.
    const { exitCode, took } = await worker.end();
    expect(exitCode).toBe(0);
    expect(took).toBeLessThan(10_000);
    const { stdout, stderr } = worker.output();
    expect(stdout).toBe("");
    for (const line of stderr.trimEnd().split("\n")) expect(JSON.parse(line)).toHaveProperty("msg");
    for (const secret of [ctx.source.password, ctx.target.password]) expect(stderr).not.toContain(secret);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
