/**
 * Traces by OpenTelemetry, on request (`DROVER_OTEL`, or an `OTEL_EXPORTER_OTLP_ENDPOINT`): BullMQ's own spans from whoever
 * enqueues a command to the jobs that come of it. The SDK is loaded only then; it reads the `OTEL_…` variables itself.
 */
import type { Telemetry } from "bullmq";
import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace-node";

export interface RunningTelemetry {
  /** For the queues and workers of this process. */
  hook: Telemetry;
  /** Sends what is not sent yet; bounded in time. */
  close(): Promise<void>;
}

/** How long the last spans may take to leave, in milliseconds. */
const CLOSE_TIMEOUT = 2_000;

/** @param service such as `drover-worker`; `OTEL_SERVICE_NAME` wins */
export async function startTelemetry(service: string): Promise<RunningTelemetry> {
  const [{ BullMQOtel }, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import("bullmq-otel"), import("@opentelemetry/sdk-trace-node"), import("@opentelemetry/exporter-trace-otlp-http"), import("@opentelemetry/resources"),
  ]);
  const provider = new sdk.NodeTracerProvider({
    resource: resourceFromAttributes({ "service.name": process.env["OTEL_SERVICE_NAME"] ?? service }),
    spanProcessors: [jobSpans(new sdk.BatchSpanProcessor(new OTLPTraceExporter()))],
  });
  provider.register();
  return {
    hook: new BullMQOtel({ tracerName: "drover" }),
    close: async () => {
      await Promise.race([provider.shutdown().catch(() => undefined), new Promise((resolve) => setTimeout(resolve, CLOSE_TIMEOUT).unref())]);
    },
  };
}

/** A worker that waits makes spans as well (asking for jobs, renewing locks), several a second; of interest are those of jobs. */
function jobSpans(next: SpanProcessor): SpanProcessor {
  return {
    onStart: (span, context) => next.onStart(span, context),
    onEnd: (span: ReadableSpan) => {
      if (/^(?:add|addBulk|process) /.test(span.name)) next.onEnd(span);
    },
    forceFlush: () => next.forceFlush(),
    shutdown: () => next.shutdown(),
  };
}
