/**
 * The client over HTTP: the same calls as `DroverClient`, with the address of a board instead of Redis and MySQL. Nothing is loaded but
 * this file and the errors, and the program needs no password of a database.
 */
import type { z } from "zod";
import { NEVER, sleep, within } from "../../shared/abort.js";
import type { DiffOptionsInput, DiffReport } from "../../shared/contracts/diff.js";
import type { diffWaitResult, waitResult } from "../../shared/contracts/http.js";
import type { ProblemDocument } from "../../shared/contracts/problem.js";
import type { MigrationSpecInput } from "../../shared/contracts/spec.js";
import type { MigrationStatus } from "../../shared/contracts/status.js";
import { DroverError, ERROR_KINDS, bounded, type ErrorCode } from "../../shared/errors.js";
import type { Finding } from "../../shared/preflight/finding.js";
import type { RepairReport } from "../../shared/state/diff-repair-report.js";
import type { CutoverOptionsInput, CutoverReport } from "../../shared/contracts/cutover.js";
import type { CallOptions, MigrationList, RepairOptions, StartResult, WaitForDiffOptions, WaitForOptions, WaitOptions } from "./call-options.js";
import type { WaitPhase } from "../../shared/contracts/wait.js";

export interface DroverHttpClientOptions {
  /** Of a board: `http://drover.internal:3000`. */
  url: string;
  /** `DROVER_API_TOKEN` of the board. */
  token?: string;
}

/** How long one request waits at the board before it is sent again, in seconds. */
const WAIT = 25;
/** An answer that is due at once; milliseconds. A command waits 30 s for a worker. */
const PATIENCE = 45_000;
/** Between two looks at a repair, and before a board that did not answer is asked again; milliseconds. */
const PAUSE = 500;

export class DroverHttpClient {
  private readonly base: URL;
  private readonly token: string | undefined;

  /** @throws DroverError CONFIG_INVALID */
  constructor(options: DroverHttpClientOptions) {
    if (!URL.canParse(options.url) || !/^https?:\/\//.test(options.url)) throw new DroverError("CONFIG_INVALID", "the board's url must begin with http:// or https://");
    this.base = new URL(`${options.url.replace(/\/$/, "")}/api/v1/`);
    this.token = options.token;
  }

  /** What stands in the way of a migration, and what to know before it; nothing is changed. @throws DroverError SPEC_INVALID */
  async check(spec: MigrationSpecInput, options: CallOptions = {}): Promise<Finding[]> {
    return (await this.ask<{ problems: Finding[] }>("POST", "check", spec, options)).problems;
  }

  /**
   * Starts a migration. The same id with the same spec is the same migration: it may be sent again when an answer was lost.
   * @throws DroverError SPEC_INVALID, MIGRATION_CONFLICT, PREFLIGHT_FAILED
   */
  async startMigration(spec: MigrationSpecInput, options: CallOptions & { preflight?: boolean } = {}): Promise<StartResult> {
    return await this.ask("POST", `migrations?preflight=${options.preflight === true}`, spec, options);
  }

  /** @throws DroverError NOT_FOUND */
  async status(id: string, options: CallOptions = {}): Promise<MigrationStatus> {
    return await this.ask("GET", migration(id), undefined, options);
  }

  async listMigrations(options: CallOptions = {}): Promise<MigrationList> {
    return await this.ask("GET", "migrations", undefined, options);
  }

  /** Keeps everything as it is, until `resume`. @throws DroverError NOT_FOUND, WRONG_PHASE, NO_ANSWER */
  async pause(id: string, options: CallOptions = {}): Promise<MigrationStatus> {
    return await this.ask("POST", `${migration(id)}/pause`, undefined, options);
  }

  async resume(id: string, options: CallOptions = {}): Promise<MigrationStatus> {
    return await this.ask("POST", `${migration(id)}/resume`, undefined, options);
  }

  async stop(id: string, options: CallOptions = {}): Promise<MigrationStatus> {
    return await this.ask("POST", `${migration(id)}/stop`, undefined, options);
  }

  /** Deletes what Drover remembers of a migration; never target rows. */
  async remove(id: string, options: CallOptions = {}): Promise<MigrationStatus> {
    return await this.ask("DELETE", migration(id), undefined, options);
  }

  /**
   * Waits for a phase. A board that goes away meanwhile is asked again.
   * @throws DroverError TIMEOUT; MIGRATION_FAILED or WRONG_PHASE when it will not come; NOT_FOUND
   */
  async waitFor(id: string, wanted: WaitPhase, options: WaitForOptions = {}): Promise<MigrationStatus> {
    let position = options.position ?? null;
    return await this.untilDone(`migration ${id} did not get to be ${wanted}`, options, async (timeoutSeconds) => {
      const answer = await this.ask<z.output<typeof waitResult>>("POST", `${migration(id)}/wait`, { for: wanted, position, timeoutSeconds }, options);
      position = answer.position;
      options.onStatus?.(answer.status);
      return answer.reached ? answer.status : undefined;
    });
  }

  /** Starts a comparison of both sides. @throws DroverError NOT_FOUND, SPEC_INVALID, NO_ANSWER */
  async startDiff(id: string, diffOptions: DiffOptionsInput = {}, options: CallOptions = {}): Promise<{ diffId: string }> {
    return await this.ask("POST", `${migration(id)}/diffs`, diffOptions, options);
  }

  /** @param diffId `last` is the newest */
  async showDiff(id: string, diffId = "last", options: CallOptions = {}): Promise<DiffReport> {
    return await this.ask("GET", diff(id, diffId), undefined, options);
  }

  /** The newest hundred, newest first; without samples. */
  async listDiffs(id: string, options: CallOptions = {}): Promise<DiffReport[]> {
    return (await this.ask<{ diffs: DiffReport[] }>("GET", `${migration(id)}/diffs`, undefined, options)).diffs;
  }

  /** Waits for a diff's end. @throws DroverError TIMEOUT; DIFF_FAILED when it failed or was stopped */
  async waitForDiff(id: string, diffId: string, options: WaitForDiffOptions = {}): Promise<DiffReport> {
    // `last` is the one that it is at the first look.
    let named = diffId;
    return await this.untilDone(`diff ${diffId} of migration ${id} did not end`, options, async (timeoutSeconds) => {
      const answer = await this.ask<z.output<typeof diffWaitResult>>("POST", `${diff(id, named)}/wait`, { timeoutSeconds }, options);
      named = answer.report.diffId;
      options.onReport?.(answer.report);
      return answer.ended ? answer.report : undefined;
    });
  }

  async stopDiff(id: string, diffId: string, options: CallOptions = {}): Promise<DiffReport> {
    return await this.ask("POST", `${diff(id, diffId)}/stop`, undefined, options);
  }

  async resumeDiff(id: string, diffId: string, options: CallOptions = {}): Promise<DiffReport> {
    return await this.ask("POST", `${diff(id, diffId)}/resume`, undefined, options);
  }

  async deleteDiff(id: string, diffId: string, options: CallOptions = {}): Promise<{ id: string; diffId: string }> {
    return await this.ask("DELETE", diff(id, diffId), undefined, options);
  }

  /** Makes the target equal the source where a diff confirmed a difference, and waits until that is done. */
  async repairDiff(id: string, diffId: string, options: Omit<RepairOptions, "onNoWorker"> = {}): Promise<RepairReport> {
    const begun = await this.ask<RepairReport>("POST", `${diff(id, diffId)}/repair`, { dryRun: options.dryRun ?? false }, options);
    return await this.untilDone(`the repair of diff ${begun.diffId} did not end`, options, async () => {
      const report = await this.ask<RepairReport>("GET", `${diff(id, begun.diffId)}/repair`, undefined, options);
      if (report.state !== "pending" && report.state !== "running") return report;
      await sleep(PAUSE, options.signal ?? NEVER);
      return undefined;
    });
  }

  /** What a cut-over would do, and what stands in its way; nothing is changed. */
  async checkCutover(id: string, cutoverOptions: CutoverOptionsInput = {}, options: CallOptions = {}): Promise<CutoverReport> {
    return await this.ask("POST", `${migration(id)}/cutover`, { ...cutoverOptions, dryRun: true }, options);
  }

  /** Cuts a migration over to its target, and waits for the end. @throws DroverError PREFLIGHT_FAILED with all problems */
  async cutover(id: string, cutoverOptions: CutoverOptionsInput = {}, options: WaitOptions = {}): Promise<CutoverReport> {
    await this.ask("POST", `${migration(id)}/cutover`, { ...cutoverOptions, dryRun: false }, options);
    return await this.untilDone(`the cut-over of migration ${id} did not end`, options, async () => {
      const report = await this.ask<CutoverReport>("GET", `${migration(id)}/cutover`, undefined, options);
      if (report.state === "completed" || report.state === "failed") return report;
      await sleep(PAUSE, options.signal ?? NEVER);
      return undefined;
    });
  }

  /** Asks until there is a value. What may heal is asked again, but for the first time: it is likelier a wrong setting. */
  private async untilDone<T>(what: string, options: { timeout?: number | undefined; signal?: AbortSignal | undefined }, look: (timeoutSeconds: number) => Promise<T | undefined>): Promise<T> {
    const deadline = Date.now() + (options.timeout ?? Infinity);
    for (let first = true; ; first = false) {
      const left = Math.max(0, deadline - Date.now());
      try {
        const value = await look(Math.min(WAIT, left / 1_000));
        if (value !== undefined) return value;
      } catch (error) {
        if (first || !(error instanceof DroverError) || error.kind !== "retryable") throw error;
        await sleep(Math.min(PAUSE, left), options.signal ?? NEVER);
      }
      if (Date.now() >= deadline) throw new DroverError("TIMEOUT", `${what} within ${(options.timeout ?? 0) / 1_000} s`);
    }
  }

  private async ask<T>(method: string, path: string, body: unknown, { signal }: CallOptions): Promise<T> {
    let answer: { response: Response; text: string };
    try {
      answer = await within(PATIENCE, signal, async (limited) => {
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

function migration(id: string): string {
  return `migrations/${encodeURIComponent(id)}`;
}

function diff(id: string, diffId: string): string {
  return `${migration(id)}/diffs/${encodeURIComponent(diffId)}`;
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
