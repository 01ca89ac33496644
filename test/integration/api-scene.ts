/** A board over a test's servers, and a caller of its API who checks every answer against the board's own OpenAPI document. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { startBoard } from "../../src/producers/board/start.js";
import { loadConfig } from "../../src/producers/index.js";
import type { TestContext } from "../support/context.js";

export interface ApiAnswer<T> {
  status: number;
  headers: Headers;
  body: T;
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, { $ref?: string; content?: Record<string, { schema: object }> }> }>>;
  components: { responses: Record<string, { content: Record<string, { schema: object }> }> };
}

export class ApiScene implements AsyncDisposable {
  readonly url: string;
  readonly document: Document;
  private readonly board: { close(): Promise<void> };
  private readonly ajv: Ajv2020;
  private readonly validators = new Map<string, ValidateFunction>();

  private constructor(board: { url: string; close(): Promise<void> }, document: Document) {
    this.board = board;
    this.url = board.url;
    this.document = document;
    this.ajv = new Ajv2020({ strict: false, validateFormats: false });
    // A key that the document does not know is a mistake here, though programs must bear it.
    this.ajv.addSchema(closed(document) as object, "doc");
  }

  static async open(ctx: TestContext, env: Record<string, string> = {}): Promise<ApiScene> {
    const board = await startBoard({ config: loadConfig({ ...ctx.env, DROVER_LOG_LEVEL: "silent", ...env }), port: 0, host: "127.0.0.1" });
    const headers: Record<string, string> = env["DROVER_API_TOKEN"] === undefined ? {} : { authorization: `Bearer ${env["DROVER_API_TOKEN"]}` };
    const document = (await (await fetch(new URL("/api/v1/openapi.json", board.url), { headers })).json()) as Document;
    return new ApiScene(board, document);
  }

  /** @param path behind `/api/v1`; an answer that is not as the document says is an error */
  async ask<T = Record<string, unknown>>(method: string, path: string, body?: unknown, init: RequestInit = {}): Promise<ApiAnswer<T>> {
    const answer = await fetch(new URL(`/api/v1${path}`, this.url), {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
      ...init,
    });
    const value = (await answer.json()) as T;
    const validate = this.validator(method, path, answer.status, answer.headers.get("content-type") ?? "");
    if (!validate(value)) throw new Error(`${method} ${path}: ${answer.status} is not as documented: ${this.ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`);
    return { status: answer.status, headers: answer.headers, body: value };
  }

  private validator(method: string, path: string, status: number, contentType: string): ValidateFunction {
    const given = `/api/v1${path}`.split("?", 1)[0]?.split("/") ?? [];
    const templates = Object.keys(this.document.paths).filter((template) => {
      const parts = template.split("/");
      return parts.length === given.length && parts.every((part, i) => part.startsWith("{") || part === given[i]);
    });
    const template = templates.find((one) => this.document.paths[one]?.[method.toLowerCase()] !== undefined);
    if (template === undefined) throw new Error(`the document has no ${method} ${path}`);
    const { responses } = this.document.paths[template]?.[method.toLowerCase()] ?? { responses: {} };
    const key = responses[status] === undefined ? `${Math.floor(status / 100)}XX` : String(status);
    const type = responses[key]?.$ref === undefined ? "application/json" : "application/problem+json";
    if (!contentType.startsWith(type)) throw new Error(`${method} ${path}: ${status} came as ${contentType}, not ${type}`);
    const place = responses[key]?.$ref ?? `#/paths/${encodeURIComponent(template.replaceAll("/", "~1"))}/${method.toLowerCase()}/responses/${key}`;
    const pointer = `doc${place}/content/${encodeURIComponent(type.replaceAll("/", "~1"))}/schema`;
    const known = this.validators.get(pointer) ?? this.ajv.compile({ $ref: pointer });
    this.validators.set(pointer, known);
    return known;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.board.close();
  }
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return copy["type"] === "object" && "properties" in copy ? { additionalProperties: false, ...copy } : copy;
}
