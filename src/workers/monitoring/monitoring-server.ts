/** The worker's own port: `/healthz` (the process is alive), `/readyz` (it consumes), `/metrics`. Nothing here changes anything or tells a secret. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { DroverError } from "../../shared/errors.js";
import type { WorkerMetrics } from "./worker-metrics.js";

export interface MonitoringServerOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  metrics: WorkerMetrics;
  /** Why this worker does not consume; empty when it does. */
  problems: () => Promise<string[]>;
}

export interface MonitoringServer {
  url: string;
  close(): void;
}

/** Probes and a scraper are few. */
const MAX_CONNECTIONS = 64;

/** @throws DroverError CONFIG_INVALID when it cannot listen there */
export async function startMonitoringServer(options: MonitoringServerOptions): Promise<MonitoringServer> {
  const server = createServer({ requestTimeout: 5_000, headersTimeout: 5_000, keepAliveTimeout: 5_000 }, (request, response) => {
    // The body of a request is of no interest.
    request.resume();
    void answer(options, request.method ?? "", (request.url ?? "").split("?", 1)[0] ?? "", response).catch(() => response.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${port}/`, close };
}

async function answer({ metrics, problems }: MonitoringServerOptions, method: string, path: string, response: ServerResponse): Promise<void> {
  const send = (status: number, type: string, body: string) => {
    response.writeHead(status, { "content-type": type, "cache-control": "no-store", "x-content-type-options": "nosniff" });
    response.end(method === "HEAD" ? undefined : body);
  };
  const sendJson = (status: number, body: unknown) => send(status, "application/json; charset=utf-8", `${JSON.stringify(body)}\n`);
  if (method !== "GET" && method !== "HEAD") return sendJson(405, { ok: false });
  if (path === "/healthz") return sendJson(200, { ok: true });
  if (path === "/metrics") return send(200, metrics.registry.contentType, await metrics.registry.metrics());
  if (path === "/readyz") {
    const found = await problems();
    return sendJson(found.length === 0 ? 200 : 503, { ok: found.length === 0, problems: found });
  }
  return sendJson(404, { ok: false });
}

function listen(server: Server, { host, port }: MonitoringServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) =>
      reject(new DroverError("CONFIG_INVALID", `the worker's port cannot be opened on ${host}, port ${port} (${cause.code ?? cause.message})`, { cure: "choose another --metrics-port, or 0 for a free one", cause })),
    );
    server.listen(port, host, resolve);
  });
}
