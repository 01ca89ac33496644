/** One operation of the HTTP API: the table of these is what the routes and the OpenAPI document are made from. */
import type { z } from "zod";
import type { DroverClient } from "../client/drover-client.js";

export interface Call {
  /** Of the path. */
  params: Readonly<Record<string, string>>;
  query: unknown;
  body: unknown;
  /** Fires when the caller has gone: what is only read ends then. A command that was sent is carried out all the same, so its answer is waited for without it. */
  signal: AbortSignal;
}

export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

export interface Operation {
  /** In the document, where programs that are generated from it take a function's name. */
  id: string;
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Behind `/api/v1`, with `{name}` for a parameter. */
  path: string;
  summary: string;
  description?: string;
  query?: z.ZodObject;
  /** What the body may be. It is checked where it is used: a spec by the client, as everywhere. */
  body?: { contract: z.ZodType; required: boolean };
  answers: Readonly<Record<number, { description: string; contract: z.ZodType }>>;
  /** It stays open for as long as the caller asks: only so many at once. */
  waits?: boolean;
  /** @throws DroverError which becomes a problem document */
  run(client: DroverClient, call: Call): Promise<Answer>;
}

/** A parameter of the path, which the router has matched. */
export function param(call: Call, name: string): string {
  return call.params[name] ?? "";
}

export function ok(body: unknown): Answer {
  return { status: 200, body };
}
