/**
 * The files for containers, as far as a machine without an engine can tell: each worker and board of theirs is started by hand, with the
 * command, settings, credential files, health checks and signals that the files name.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { loadConfig } from "../../src/shared/config.js";
import { isQueueKey, testContext, type TestContext } from "../support/context.js";
import { DroverService, ensureBuilt } from "./cli-process.js";

beforeAll(ensureBuilt, 180_000);
const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "drover-deploy-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Manifest {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: { selector?: { matchLabels?: object }; template?: { metadata: { labels: object }; spec: PodSpec } };
}
interface PodSpec {
  terminationGracePeriodSeconds: number;
  containers: { args: string[]; env: { name: string; value?: string }[]; ports: { name: string; containerPort: number }[]; readinessProbe: { httpGet: { path: string } }; livenessProbe: { httpGet: { path: string } }; volumeMounts: { name: string; mountPath: string }[] }[];
  volumes: { name: string }[];
}
interface Service {
  command?: string[];
  environment: Record<string, string>;
  secrets?: string[];
  configs?: { source: string }[];
  volumes?: string[];
  depends_on?: object;
  healthcheck?: { test: string[] };
}

const manifests = readdirSync(join(root, "deploy/kubernetes"))
  .filter((name) => name !== "kustomization.yaml")
  .flatMap((name) => parseAllDocuments(readFileSync(join(root, "deploy/kubernetes", name), "utf8")).map((document) => document.toJS() as Manifest));
const find = (kind: string, name: string) => manifests.find((one) => one.kind === kind && one.metadata.name === name) as Manifest;
const compose = parse(readFileSync(join(root, "docker-compose.yml"), "utf8"), { merge: true }) as { services: Record<string, Service>; volumes: object; configs: object; secrets: object };

/** The servers of the test in the place of the file's own. */
function withServers(ctx: TestContext, settings: Record<string, string>): Record<string, string> {
  const { DROVER_REDIS_URL = "", DROVER_PREFIX = "", DROVER_STATE_SCHEMA = "" } = ctx.env;
  return { ...settings, DROVER_REDIS_URL, DROVER_PREFIX, DROVER_STATE_SCHEMA };
}

async function answers(url: string, status: number): Promise<void> {
  const seen: unknown[] = [];
  for (let i = 0; i < 200; i++) {
    const answer = await fetch(url).catch((error: unknown) => error);
    if (answer instanceof Response && answer.status === status) return;
    seen.push(answer instanceof Response ? answer.status : "no answer");
    await sleep(100);
  }
  throw new Error(`${url}: ${[...new Set(seen)].join(", ")}`);
}

test("Kubernetes: the worker's and the board's command with their settings, credentials as files; ready, alive, and ended in time", { timeout: 120_000 }, async () => {
  // The mark of a limit stays for some seconds.
  await using ctx = await testContext({ allowedKey: (key, prefix) => isQueueKey(key, prefix) || key.startsWith(`${prefix}:limit:`) });
  for (const [name, url] of [["src", ctx.source.url], ["dst", ctx.target.url]] as const) writeFileSync(join(folder, name), `${url}\n`);
  const settings = withServers(ctx, find("ConfigMap", "drover-settings").data ?? {});
  for (const name of Object.keys(settings)) if (name.endsWith("_FILE")) settings[name] = join(folder, (settings[name] ?? "").split("/").at(-1) ?? "");
  for (const name of ["drover-worker", "drover-board"]) {
    const { selector, template } = find("Deployment", name).spec ?? {};
    expect(template?.metadata.labels).toMatchObject(selector?.matchLabels ?? {});
    const pod = template?.spec as PodSpec;
    const container = pod.containers[0] as PodSpec["containers"][0];
    expect(pod.volumes.map((volume) => volume.name)).toEqual(container.volumeMounts.map((mount) => mount.name));
    // Ports of the test's own: others' tests may run beside it.
    const port = String(20_000 + Math.floor(Math.random() * 20_000));
    const own = Object.fromEntries(container.env.filter(({ value }) => value !== undefined).map(({ name: key, value }) => [key, key === "DROVER_WORKER_PORT" ? port : (value ?? "")]));
    const token = name === "drover-board" ? { DROVER_API_TOKEN: "a-token-of-the-deploy-test" } : {};
    await using service = new DroverService(container.args.map((arg) => (arg === "3000" ? port : arg)), { env: { ...settings, ...own, ...token } });
    await answers(`http://127.0.0.1:${port}${container.livenessProbe.httpGet.path}`, 200);
    await answers(`http://127.0.0.1:${port}${container.readinessProbe.httpGet.path}`, 200);
    const { exitCode, took } = await service.end();
    expect(exitCode).toBe(0);
    // What is left after preStop's two seconds.
    expect(took).toBeLessThan((pod.terminationGracePeriodSeconds - 2) * 1000);
  }
});

test("Compose: the workers' command with their settings; what services name is there", { timeout: 120_000 }, async () => {
  await using ctx = await testContext();
  const { worker, board } = compose.services as { worker: Service; board: Service };
  const port = String(20_000 + Math.floor(Math.random() * 20_000));
  const env = withServers(ctx, { ...worker.environment, DROVER_WORKER_PORT: port, DROVER_CONNECTION_SRC: ctx.source.url, DROVER_CONNECTION_DST: ctx.target.url });
  expect([...loadConfig(env).connections.keys()].sort()).toEqual(["DST", "SRC"]);
  await using service = new DroverService(worker.command ?? [], { env });
  await answers(`http://127.0.0.1:${port}/readyz`, 200);
  expect((await service.end()).exitCode).toBe(0);
  expect(worker.healthcheck?.test.join(" ")).toContain(`127.0.0.1:${worker.environment["DROVER_WORKER_PORT"]}/readyz`);
  expect(board.environment).toHaveProperty("DROVER_API_TOKEN");
  for (const one of Object.values(compose.services)) {
    for (const other of Object.keys(one.depends_on ?? {})) expect(Object.keys(compose.services)).toContain(other);
    for (const secret of one.secrets ?? []) expect(Object.keys(compose.secrets)).toContain(secret);
    for (const { source } of one.configs ?? []) expect(Object.keys(compose.configs)).toContain(source);
    for (const volume of one.volumes ?? []) if (!volume.startsWith("./")) expect(Object.keys(compose.volumes)).toContain(volume.split(":")[0]);
  }
});
