/** Requests to a board's HTTP API, and the errors that its answers stand for. */
import { within } from "../../shared/abort.js";
import type { ProblemDocument } from "../../shared/contracts/problem.js";
import { DroverError, ERROR_KINDS, bounded, type ErrorCode } from "../../shared/errors.js";

export type HttpMethod = "GET" | "POST" | "PUT" | "DELETE";

interface Request {
  body: unknown;
  signal: AbortSignal | undefined;
  /** Until the answer is there; milliseconds. */
  patience: number;
}

export class BoardConnection {
  private readonly base: URL;
  private readonly token: string | undefined;

  /** @throws DroverError CONFIG_INVALID */
  constructor(options: { url: string; token: string | undefined }) {
    if (!URL.canParse(options.url) || !/^https?:\/\//.test(options.url)) throw new DroverError("CONFIG_INVALID", "the board's url must begin with http:// or https://");
    this.base = new URL(`${options.url.replace(/\/$/, "")}/api/v1/`);
    this.token = options.token;
  }

  /** @throws DroverError the board's own error; CONNECTION_LOST; ABORTED */
  async ask<T>(method: HttpMethod, path: string, { body, signal, patience }: Request): Promise<T> {
    let answer: { response: Response; text: string };
    try {
      answer = await within(patience, signal, async (limited) => {
        const response = await fetch(new URL(path, this.base), {
          method,
          redirect: "error",
          signal: limited,
          headers: { accept: "application/json", ...(this.token === undefined ? {} : { authorization: `Bearer ${this.token}` }), ...(body === undefined ? {} : { "content-type": "application/json" }) },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        return { response, text: await response.text() };
      });
    } catch (cause) {
      if (signal?.aborted === true) throw new DroverError("ABORTED", "aborted", { cause });
      throw new DroverError("CONNECTION_LOST", `the board at ${this.base.host} does not answer`, { cure: "is `drover board` running there?", cause });
    }
    const { response } = answer;
    const value = parse(answer.text);
    if (response.ok && value !== undefined) return value as T;
    throw errorOf(response.status, value);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error that the board's answer stands for, with its code, cure and problems. */
function errorOf(status: number, value: unknown): DroverError {
  const document = value as Partial<ProblemDocument> | undefined;
  if (typeof document?.code !== "string" || typeof document.detail !== "string")
    return new DroverError(status >= 500 ? "CONNECTION_LOST" : "CONFIG_INVALID", `HTTP ${status} that is not of a board`, { cure: "does the url lead to `drover board`?" });
  const { code, detail, cure, problems = [] } = document;
  if (code in ERROR_KINDS)
    return new DroverError(code as ErrorCode, detail, { cure: cure ?? undefined, problems: problems.map(({ path, ...problem }) => (path === null ? problem : { ...problem, path })) });
  // What HTTP itself refused: too many waiting may heal, a wrong token does not.
  return new DroverError(status === 429 ? "SERVER_BUSY" : "CONFIG_INVALID", bounded(`HTTP ${status} ${code}: ${detail}`, 500), { cure: cure ?? undefined });
}
