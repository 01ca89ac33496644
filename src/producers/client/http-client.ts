/**
 * The client over HTTP: the same calls as `DroverClient`, with the address of a board instead of Redis and MySQL. Nothing is loaded but
 * this file and the errors, and the program needs no password of a database.
 */
import type { z } from "zod";
import { NEVER, sleep } from "../../shared/abort.js";
import type { CutoverOptionsInput, CutoverReport } from "../../shared/contracts/cutover.js";
import type { DiffOptionsInput, DiffReport, DiffSchedule, DiffScheduleInput } from "../../shared/contracts/diff.js";
import type { diffWaitResult, waitResult } from "../../shared/contracts/http.js";
import type { MigrationSpecInput } from "../../shared/contracts/spec.js";
import type { MigrationStatus } from "../../shared/contracts/status.js";
import type { WaitPhase } from "../../shared/contracts/wait.js";
import { DroverError } from "../../shared/errors.js";
import type { Finding } from "../../shared/preflight/finding.js";
import type { RepairReport } from "../../shared/state/diff-repair-report.js";
import { BoardConnection, type HttpMethod } from "./board-connection.js";
import type { CallOptions, CutoverCallOptions, ListDiffsOptions, MigrationList, RepairOptions, StartDiffOptions, StartDiffResult, StartResult, WaitForDiffOptions, WaitForOptions, WaitOptions } from "./call-options.js";

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
/** Putting a cut-over back takes a minute at most, after a worker has taken the command. */
const ABORT_PATIENCE = 100_000;
/** Between two looks at a repair, and before a board that did not answer is asked again; milliseconds. */
const PAUSE = 500;

export class DroverHttpClient {
  private readonly board: BoardConnection;

  /** @throws DroverError CONFIG_INVALID */
  constructor(options: DroverHttpClientOptions) {
    this.board = new BoardConnection({ url: options.url, token: options.token });
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

  /**
   * Starts a comparison of both sides. With a `diffId` it may be repeated: the same id with the same options is the same diff.
   * @throws DroverError NOT_FOUND, SPEC_INVALID, DIFF_CONFLICT, WRONG_PHASE (the copy is not done), NO_ANSWER
   */
  async startDiff(id: string, diffOptions: DiffOptionsInput = {}, { diffId, signal }: Pick<StartDiffOptions, "diffId" | "signal"> = {}): Promise<StartDiffResult> {
    const { diffId: named, known } = await this.ask<StartDiffResult>("POST", `${migration(id)}/diffs`, { ...diffOptions, ...(diffId === undefined ? {} : { diffId }) }, { signal });
    return { diffId: named, known };
  }

  /** @param diffId `last` is the newest */
  async showDiff(id: string, diffId = "last", options: CallOptions = {}): Promise<DiffReport> {
    return await this.ask("GET", diff(id, diffId), undefined, options);
  }

  /** The newest hundred, newest first; without samples. */
  async listDiffs(id: string, { limit, state, ...options }: ListDiffsOptions = {}): Promise<DiffReport[]> {
    const query = new URLSearchParams({ ...(limit === undefined ? {} : { limit: String(limit) }), ...(state === undefined ? {} : { state }) });
    return (await this.ask<{ diffs: DiffReport[] }>("GET", `${migration(id)}/diffs?${query}`, undefined, options)).diffs;
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

  /** @returns its last report */
  async deleteDiff(id: string, diffId: string, options: CallOptions = {}): Promise<DiffReport> {
    return await this.ask("DELETE", diff(id, diffId), undefined, options);
  }

  /** Makes the target equal the source where a diff confirmed a difference, and waits until that is done. */
  async repairDiff(id: string, diffId: string, options: Omit<RepairOptions, "onNoWorker"> = {}): Promise<RepairReport> {
    const begun = await this.startRepair(id, diffId, options);
    return await this.untilDone(`the repair of diff ${begun.diffId} did not end`, options, async () => {
      const report = await this.showRepair(id, begun.diffId, options);
      if (report !== null && report.state !== "pending" && report.state !== "running") return report;
      await sleep(PAUSE, options.signal ?? NEVER);
      return undefined;
    });
  }

  /** Asks for a repair, without waiting for its end. @throws DroverError NOT_FOUND, WRONG_PHASE, NO_ANSWER */
  async startRepair(id: string, diffId: string, { dryRun = false, signal }: Pick<RepairOptions, "dryRun" | "signal"> = {}): Promise<{ diffId: string }> {
    const begun = await this.ask<RepairReport>("POST", `${diff(id, diffId)}/repair`, { dryRun }, { signal });
    return { diffId: begun.diffId };
  }

  /** The latest repair of a diff; null when there was none. @throws DroverError NOT_FOUND */
  async showRepair(id: string, diffId: string, options: CallOptions = {}): Promise<RepairReport | null> {
    return await this.orNull(`${diff(id, diffId)}/repair`, options, () => this.showDiff(id, diffId, options));
  }

  /** Starts diffs again and again; a schedule of the same name is replaced. @throws DroverError NOT_FOUND, SPEC_INVALID, NO_ANSWER */
  async scheduleDiff(id: string, { name = "default", ...settings }: DiffScheduleInput, options: CallOptions = {}): Promise<DiffSchedule> {
    return await this.ask("PUT", schedule(id, name), settings, options);
  }

  /** Ends a schedule; its diffs stay. @throws DroverError NOT_FOUND, NO_ANSWER */
  async unscheduleDiff(id: string, name = "default", options: CallOptions = {}): Promise<{ id: string; name: string }> {
    return await this.ask("DELETE", schedule(id, name), undefined, options);
  }

  /** By name. @throws DroverError NOT_FOUND */
  async listDiffSchedules(id: string, options: CallOptions = {}): Promise<DiffSchedule[]> {
    return (await this.ask<{ schedules: DiffSchedule[] }>("GET", `${migration(id)}/diff-schedules`, undefined, options)).schedules;
  }

  /** What a cut-over would do, and what stands in its way; nothing is changed. */
  async checkCutover(id: string, cutoverOptions: CutoverOptionsInput = {}, options: CallOptions = {}): Promise<CutoverReport> {
    return await this.startCutover(id, cutoverOptions, { ...options, dryRun: true });
  }

  /**
   * Cuts a migration over to its target, and waits for the end; with `dryRun` it looks only.
   * @throws DroverError PREFLIGHT_FAILED with all problems when something stands in the way; NOT_FOUND, NO_ANSWER
   */
  async cutover(id: string, cutoverOptions: CutoverOptionsInput = {}, options: WaitOptions & Omit<CutoverCallOptions, "onNoWorker"> = {}): Promise<CutoverReport> {
    const begun = await this.startCutover(id, cutoverOptions, options);
    if (options.dryRun === true) return begun;
    return await this.untilDone(`the cut-over of migration ${id} did not end`, options, async () => {
      const report = await this.ask<CutoverReport>("GET", cutover(id), undefined, options);
      options.onReport?.(report);
      if (report.state === "completed" || report.state === "failed") return report;
      await sleep(PAUSE, options.signal ?? NEVER);
      return undefined;
    });
  }

  /** Begins a cut-over, or looks only (`dryRun`), without waiting for its end. @throws DroverError as `cutover` */
  async startCutover(id: string, cutoverOptions: CutoverOptionsInput = {}, { dryRun = false, signal }: Pick<CutoverCallOptions, "dryRun" | "signal"> = {}): Promise<CutoverReport> {
    return await this.ask("POST", cutover(id), { ...cutoverOptions, dryRun }, { signal });
  }

  /** The latest cut-over of a migration; null when there was none. @throws DroverError NOT_FOUND */
  async showCutover(id: string, options: CallOptions = {}): Promise<CutoverReport | null> {
    return await this.orNull(cutover(id), options, () => this.status(id, options));
  }

  /** Takes a cut-over back that is under way, and waits until that is done. @throws DroverError NOT_FOUND, WRONG_PHASE after the point of no return */
  async abortCutover(id: string, options: CallOptions = {}): Promise<CutoverReport> {
    return await this.ask("POST", `${cutover(id)}/abort`, undefined, options, ABORT_PATIENCE);
  }

  /** What the board answers with 404 also where the subject is there, and has none. */
  private async orNull<T>(path: string, options: CallOptions, subject: () => Promise<unknown>): Promise<T | null> {
    try {
      return await this.ask<T>("GET", path, undefined, options);
    } catch (error) {
      if (!(error instanceof DroverError) || error.code !== "NOT_FOUND") throw error;
      await subject();
      return null;
    }
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

  private ask<T>(method: HttpMethod, path: string, body: unknown, { signal }: CallOptions, patience = PATIENCE): Promise<T> {
    return this.board.ask(method, path, { body, signal, patience });
  }
}

function migration(id: string): string {
  return `migrations/${encodeURIComponent(id)}`;
}

function diff(id: string, diffId: string): string {
  return `${migration(id)}/diffs/${encodeURIComponent(diffId)}`;
}

function schedule(id: string, name: string): string {
  return `${migration(id)}/diff-schedules/${encodeURIComponent(name)}`;
}

function cutover(id: string): string {
  return `${migration(id)}/cutover`;
}
