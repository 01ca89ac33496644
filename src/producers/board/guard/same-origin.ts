/** Which page in which browser a request comes from. */
import type { FastifyRequest } from "fastify";

/** Browsers name the origin of every request that changes something, and most say how it relates to ours. Programs do neither. */
export function fromBrowser({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
}

/** Whether a browser's request comes from one of our own pages. */
export function fromOwnPage({ headers }: FastifyRequest): boolean {
  // What the browser itself says holds also where a proxy has rewritten Host. "none" is an address that the user typed.
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  return headers.origin !== undefined && URL.canParse(headers.origin) && new URL(headers.origin).host === headers.host;
}

export function changesSomething({ method }: FastifyRequest): boolean {
  return method !== "GET" && method !== "HEAD";
}

/** The host that the request names, without its port. */
export function hostName({ headers }: FastifyRequest): string {
  return (headers.host ?? "").replace(/:\d+$/, "");
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}
