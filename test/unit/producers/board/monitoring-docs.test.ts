/** The alerts, the dashboard and the page about watching name figures that there are. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { expect, test } from "vitest";
import { observedRegistry } from "../../../../src/producers/board/metrics/exposition.js";
import { WorkerMetrics } from "../../../../src/workers/monitoring/worker-metrics.js";

const read = (file: string) => readFileSync(new URL(`../../../../docs/${file}`, import.meta.url), "utf8");

async function exported(): Promise<Set<string>> {
  const board = observedRegistry({ snapshot: null, queues: null, connections: [] });
  const worker = new WorkerMetrics({ sessions: () => ({ lent: 0, idle: 0 }) }).registry;
  return new Set([...(await board.getMetricsAsJSON()), ...(await worker.getMetricsAsJSON())].map((metric) => metric.name));
}

function named(text: string): string[] {
  return [...new Set(text.match(/\bdrover_(?:migration|table|queue|connection|redis|worker)_[a-z_]+/g) ?? [])].map((name) => name.replace(/_(?:bucket|sum|count)$/, ""));
}

test("alert rules", async () => {
  const { groups } = parse(read("alerts.yml")) as { groups: { rules: { expr: string; annotations: { summary: string; description: string } }[] }[] };
  const known = await exported();
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(5);
  for (const { expr, annotations } of rules) {
    expect(named(expr).length).toBeGreaterThan(0);
    for (const name of named(expr)) expect(known).toContain(name);
    expect(annotations.description).not.toBe("");
  }
});

test("the Grafana dashboard", async () => {
  const { panels } = JSON.parse(read("grafana/drover.json")) as { panels: { id: number; title: string; type: string; targets?: { expr: string }[] }[] };
  const known = await exported();
  expect(new Set(panels.map((panel) => panel.id)).size).toBe(panels.length);
  for (const panel of panels.filter((one) => one.type !== "row")) {
    expect(panel.targets?.length).toBeGreaterThan(0);
    for (const { expr } of panel.targets ?? []) for (const name of named(expr)) expect(known).toContain(name);
  }
});

test("docs/monitoring.md names every figure", async () => {
  const page = read("monitoring.md");
  for (const name of named(page)) expect(await exported()).toContain(name);
  const missing = [...(await exported())].filter((name) => name.startsWith("drover_") && !page.includes(name) && !page.includes(name.replace("drover_migration_", "…_")));
  expect(missing).toEqual([]);
});
