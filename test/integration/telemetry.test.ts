/** Traces on request: a collector gets the spans of a command and of the jobs that come of it, over OTLP's HTTP. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { beforeAll, expect, test } from "vitest";
import { testContext } from "../support/context.js";
import { until } from "../support/fault-scene.js";
import { drover, droverJson, DroverService, ensureBuilt } from "./cli-process.js";
import { createOrders, shopSpec } from "./client-scene.js";

beforeAll(ensureBuilt, 180_000);

interface Span {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: Record<string, string>;
}

interface OtlpTraces {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: (Omit<Span, "service" | "attributes"> & { attributes: { key: string; value: { stringValue?: string } }[] })[] }[];
  }[];
}

async function collector() {
  const spans: Span[] = [];
  let raw = "";
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      raw += body;
      for (const { resource, scopeSpans } of (JSON.parse(body) as OtlpTraces).resourceSpans) {
        const service = attributesOf(resource.attributes)["service.name"] ?? "";
        for (const span of scopeSpans.flatMap((scope) => scope.spans)) spans.push({ ...span, service, attributes: attributesOf(span.attributes) });
      }
      response.setHeader("content-type", "application/json").end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    spans, url: `http://127.0.0.1:${port}`, raw: () => raw,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function attributesOf(list: { key: string; value: { stringValue?: string } }[]): Record<string, string> {
  return Object.fromEntries(list.map(({ key, value }) => [key, value.stringValue ?? ""]));
}

test("one trace leads from the command to the chunks that it made a worker copy", async () => {
  await using ctx = await testContext();
  await createOrders(ctx, 200);
  await using traces = await collector();
  const env = { ...ctx.env, OTEL_EXPORTER_OTLP_ENDPOINT: traces.url, OTEL_BSP_SCHEDULE_DELAY: "100" };
  await using worker = new DroverService(["worker"], { env });
  await worker.says("worker started");
  await droverJson(["start", "-"], { env, stdin: JSON.stringify(shopSpec(ctx)) });
  await drover(["wait", "shop", "--for", "streaming"], { env });

  const jobs = (name: string, trace?: string) => traces.spans.filter((span) => span.name === name && (trace === undefined || span.traceId === trace));
  await until(() => traces.spans.some((span) => span.service === "drover" && span.name === "add control.start"), "the command's span", 10_000);
  const command = traces.spans.find((span) => span.service === "drover" && span.name === "add control.start");
  await until(() => jobs("process copy", command?.traceId).length > 0, "the copy's spans", 10_000);
  expect(jobs("process control", command?.traceId).every((span) => span.service === "drover-worker" && span.parentSpanId !== undefined)).toBe(true);
  expect(jobs("process copy", command?.traceId).map((span) => span.attributes["bullmq.job.id"])).toContain("chunk.shop.1.1");
  expect(traces.spans.filter((span) => /getNextJob|extendLocks/.test(span.name))).toEqual([]);
  for (const secret of [ctx.source.password, ctx.target.password, "note 17"]) expect(traces.raw()).not.toContain(secret);

  // the leases' runs are traces of their own: that of the command has an end
  await drover(["stop", "shop"], { env });
  await worker.end();
  const leases = [...jobs("process tail"), ...jobs("process apply")];
  expect(leases.length).toBeGreaterThanOrEqual(2);
  expect(leases.filter((span) => span.traceId === command?.traceId)).toEqual([]);
});
