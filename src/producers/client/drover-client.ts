/**
 * The typed client: what the CLI, the HTTP API and other services use to command migrations and to look at them.
 * Commands are jobs of the queue `control`, carried out by whichever worker is free; status is read from the state
 * schema on the target, so it is true also when Redis was emptied or no worker runs.
 */
import { isDeepStrictEqual } from "node:util";
import type { Telemetry } from "bullmq";
import { z } from "zod";
import { loadConfig, type Config } from "../../shared/config.js";
import { cutoverOptions, cutoverReport, type CutoverOptionsInput, type CutoverReport } from "../../shared/contracts/cutover.js";
import type { DiffOptionsInput, DiffReport, DiffSchedule, DiffScheduleInput } from "../../shared/contracts/diff.js";
import { diffOptions, diffScheduleSettings } from "../../shared/contracts/diff.js";
import { migrationSpec, parseContract, parseMigrationSpec, type MigrationSpec, type MigrationSpecInput } from "../../shared/contracts/spec.js";
import { PHASES, type MigrationStatus, type Phase } from "../../shared/contracts/status.js";
import { DroverError } from "../../shared/errors.js";
import type { RepairReport } from "../../shared/state/diff-repair-report.js";
import { migrationConflict } from "../../shared/state/record-migration.js";
import type { Finding } from "../../shared/preflight/finding.js";
import type { CallOptions, CutoverCallOptions, ListDiffsOptions, MigrationList, RepairOptions, ShowDiffOptions, StartOptions, StartResult, WaitForDiffOptions, WaitForOptions } from "./call-options.js";
import { clientConfig, type DroverClientOptions } from "./client-options.js";
import { CommandChannel, type AnswerOptions } from "./command-channel.js";
import { newDiffId } from "./diff-id.js";
import { notFound, type FoundMigration } from "./migration-finder.js";
import { poll } from "./poll.js";
import type { StateView } from "./state-view.js";
import type { WaitPhase } from "./wait-phases.js";
import { waitingStatus } from "./waiting-status.js";

/** What putting back may take after a cut-over's own deadline, in milliseconds. */
const CUTOVER_PATIENCE = 60_000;

export class DroverClient {
  private readonly config: Config;
  private readonly channel: CommandChannel;
  private loadedView: Promise<StateView> | undefined;

  /** @throws DroverError CONFIG_INVALID */
  constructor(options: DroverClientOptions | { config: Config; telemetry?: Telemetry | undefined }) {
    this.config = "config" in options ? options.config : clientConfig(options);
    this.channel = new CommandChannel({ ...this.config, telemetry: options.telemetry });
  }

  /** A client with the settings of the environment (`DROVER_…`). @throws DroverError CONFIG_INVALID */
  static fromEnvironment(environment: NodeJS.ProcessEnv = process.env): DroverClient {
    return new DroverClient({ config: loadConfig(environment) });
  }

  /** What stands in the way of a migration, and what to know before it; nothing is changed. @throws DroverError SPEC_INVALID */
  async check(specInput: MigrationSpecInput, options: CallOptions = {}): Promise<Finding[]> {
    const view = await this.view();
    const spec = parseMigrationSpec(specInput);
    const [redis, servers] = await Promise.all([this.channel.check(spec.options.backlogBytes), view.preflight(spec, view.signal(options.signal))]);
    return [...redis, ...servers];
  }

  /**
   * Starts a migration. The same id with the same spec is the same migration: starting it again changes nothing.
   * @throws DroverError SPEC_INVALID, MIGRATION_CONFLICT, PREFLIGHT_FAILED, REDIS_UNAVAILABLE, NO_ANSWER
   */
  async startMigration(specInput: MigrationSpecInput, options: StartOptions = {}): Promise<StartResult> {
    const spec = parseMigrationSpec(specInput);
    const known = await this.lookBeforeStart(spec, options.signal);
    if (known !== null) return { id: spec.id, accepted: true, known, warnings: [] };
    const findings = options.preflight === true ? await this.check(specInput, options) : [];
    const blocking = findings.filter((finding) => finding.severity === "error");
    if (blocking.length > 0) throw new DroverError("PREFLIGHT_FAILED", `migration ${spec.id} cannot be started`, { problems: blocking });
    const accepted = await this.channel.workerPresent();
    // Without a worker there is nobody to wait for: the start is queued as it was asked, once.
    if (!accepted && (await this.isQueued(spec))) return { id: spec.id, accepted, known: "planning", warnings: findings };
    const job = await this.channel.enqueue("start", { spec: specInput });
    // What is queued will be carried out, also when the caller has gone meanwhile.
    if (!accepted) await this.recordStart(specInput, spec);
    const answer = startAnswer.safeParse(accepted ? await this.channel.answer(job, options) : {});
    return { id: spec.id, accepted, known: answer.data?.known ?? null, warnings: findings };
  }

  /** @throws DroverError NOT_FOUND, CONNECTION_LOST */
  async status(id: string, options: CallOptions = {}): Promise<MigrationStatus> {
    const view = await this.view();
    const signal = view.signal(options.signal);
    const { found, unreachable } = await view.finder.find(id, signal);
    if (found) return await view.statuses.read(found, signal);
    const start = await this.channel.unansweredStart(id);
    if (start?.refusal === null) return waitingStatus(id, start);
    throw start === null ? notFound(id, unreachable) : refusedStart(id, start.since, start.refusal);
  }

  /** All migrations of all configured servers, oldest first; also those whose start no worker has taken up. */
  async listMigrations(options: CallOptions = {}): Promise<MigrationList> {
    const view = await this.view();
    const signal = view.signal(options.signal);
    const [{ found, unreachable }, starts] = await Promise.all([view.finder.list(signal), this.channel.unansweredStarts().catch(() => new Map<string, never>())]);
    const migrations = await Promise.all(found.map((one) => view.statuses.read(one, signal).catch(ignoreRemoved)));
    const waiting = [...starts].filter(([id, start]) => start.refusal === null && !found.some((one) => one.migration.id === id)).map(([id, start]) => waitingStatus(id, start));
    return {
      migrations: [...migrations.filter((status) => status !== null), ...waiting],
      unreachable: unreachable.map(({ connection, error }) => ({ connection, message: error.message })),
    };
  }

  /** Keeps everything as it is, until `resume`. @throws DroverError NOT_FOUND, WRONG_PHASE, NO_ANSWER */
  async pause(id: string, options: AnswerOptions = {}): Promise<MigrationStatus> {
    return await this.command("pause", id, options);
  }

  /** Goes on where a paused or failed migration stood. @throws DroverError NOT_FOUND, WRONG_PHASE, NO_ANSWER */
  async resume(id: string, options: AnswerOptions = {}): Promise<MigrationStatus> {
    return await this.command("resume", id, options);
  }

  /** Ends a migration for good; the target keeps its rows. @throws DroverError NOT_FOUND, WRONG_PHASE, NO_ANSWER */
  async stop(id: string, options: AnswerOptions = {}): Promise<MigrationStatus> {
    return await this.command("stop", id, options);
  }

  /**
   * Deletes what Drover remembers of a migration that has ended or is paused; never target rows.
   * @returns its last status
   * @throws DroverError NOT_FOUND, WRONG_PHASE, NO_ANSWER
   */
  async remove(id: string, options: AnswerOptions = {}): Promise<MigrationStatus> {
    const status = await this.status(id, options);
    await this.channel.send("remove", await this.reference(id, options), options);
    return status;
  }

  /**
   * Waits for a phase.
   * @throws DroverError TIMEOUT; MIGRATION_FAILED or WRONG_PHASE when it will not come; NOT_FOUND
   */
  async waitFor(id: string, wanted: WaitPhase, options: WaitForOptions = {}): Promise<MigrationStatus> {
    const view = await this.view();
    const signal = view.signal(options.signal);
    const { reached } = await import("./wait-for.js");
    let mark: string | null = options.position ?? null;
    return await poll(`migration ${id} did not get to be ${wanted}`, { timeout: options.timeout, signal }, async () => {
      if (wanted === "caught-up") mark ??= await this.sourcePosition(id, { signal });
      const status = await this.status(id, { signal });
      options.onStatus?.(status);
      const verdict = reached(status, wanted, mark);
      if (verdict instanceof DroverError) throw verdict;
      return verdict ? status : undefined;
    });
  }

  /** Starts a comparison of both sides. @throws DroverError NOT_FOUND, SPEC_INVALID, NO_ANSWER */
  async startDiff(id: string, diffOptionsInput: DiffOptionsInput = {}, options: AnswerOptions = {}): Promise<{ diffId: string }> {
    parseContract(diffOptions, diffOptionsInput, "the diff's options");
    const diffId = newDiffId(new Date());
    await this.channel.send("diff-start", { ...(await this.reference(id, options)), diffId, options: diffOptionsInput }, options);
    return { diffId };
  }

  /**
   * @param diffId `last` is the newest
   * @throws DroverError NOT_FOUND
   */
  async showDiff(id: string, diffId = "last", options: ShowDiffOptions = {}): Promise<DiffReport> {
    const view = await this.view();
    const signal = view.signal(options.signal);
    return await view.diffs.read(await this.find(view, id, signal), diffId, options.showValues ?? false, signal);
  }

  /** The newest hundred, newest first; without samples. */
  async listDiffs(id: string, options: ListDiffsOptions = {}): Promise<DiffReport[]> {
    const view = await this.view();
    const signal = view.signal(options.signal);
    return await view.diffs.list(await this.find(view, id, signal), options, signal);
  }

  /** Waits for a diff's end. @throws DroverError TIMEOUT; DIFF_FAILED when it failed or was stopped */
  async waitForDiff(id: string, diffId: string, options: WaitForDiffOptions = {}): Promise<DiffReport> {
    const view = await this.view();
    const signal = view.signal(options.signal);
    // `last` is the one that it is at the first look.
    let named = diffId;
    return await poll(`diff ${diffId} of migration ${id} did not end`, { timeout: options.timeout, signal }, async () => {
      const report = await this.showDiff(id, named, { signal });
      named = report.diffId;
      options.onReport?.(report);
      if (report.state === "failed" || report.state === "stopped")
        throw new DroverError("DIFF_FAILED", `diff ${report.diffId} of migration ${id} ${report.state === "stopped" ? "was stopped" : `failed: ${report.lastError?.message ?? "no reason is recorded"}`}`, { cure: `\`drover diff resume ${id} ${report.diffId}\` takes it up again` });
      return report.state === "completed" ? report : undefined;
    });
  }

  /** Starts diffs again and again; a schedule of the same name is replaced. @throws DroverError NOT_FOUND, SPEC_INVALID, NO_ANSWER */
  async scheduleDiff(id: string, schedule: DiffScheduleInput, options: AnswerOptions = {}): Promise<DiffSchedule> {
    const { name } = parseContract(diffScheduleSettings, schedule, "the diff's schedule");
    await this.channel.send("diff-schedule", { ...(await this.reference(id, options)), ...schedule }, options);
    const stored = (await this.listDiffSchedules(id, options)).find((one) => one.name === name);
    if (stored === undefined) throw new DroverError("NOT_FOUND", `the schedule "${name}" of migration ${id} was removed meanwhile`);
    return stored;
  }

  /** Ends a schedule; its diffs stay. @throws DroverError NOT_FOUND, NO_ANSWER */
  async unscheduleDiff(id: string, name = "default", options: AnswerOptions = {}): Promise<{ id: string; name: string }> {
    await this.channel.send("diff-unschedule", { ...(await this.reference(id, options)), name }, options);
    return { id, name };
  }

  /** By name. @throws DroverError NOT_FOUND */
  async listDiffSchedules(id: string, options: CallOptions = {}): Promise<DiffSchedule[]> {
    const view = await this.view();
    const signal = view.signal(options.signal);
    return await view.diffs.schedules(await this.find(view, id, signal), signal);
  }

  /** @param diffId `last` is the newest, here as in every command on a diff */
  async stopDiff(id: string, diffId: string, options: AnswerOptions = {}): Promise<DiffReport> {
    return await this.diffCommand("diff-stop", id, diffId, options);
  }

  /** Takes up a stopped or failed diff where it stood. */
  async resumeDiff(id: string, diffId: string, options: AnswerOptions = {}): Promise<DiffReport> {
    return await this.diffCommand("diff-resume", id, diffId, options);
  }

  async deleteDiff(id: string, diffId: string, options: AnswerOptions = {}): Promise<{ id: string; diffId: string }> {
    const named = await this.diffReference(id, diffId, options);
    await this.channel.send("diff-delete", named, options);
    return { id, diffId: named.diffId };
  }

  /**
   * Makes the target equal the source where a diff confirmed a difference, and waits until that is done.
   * @returns the report, also of a repair that failed (`state`)
   * @throws DroverError NOT_FOUND, WRONG_PHASE (the diff has not ended), NO_ANSWER, TIMEOUT
   */
  async repairDiff(id: string, diffId: string, options: RepairOptions = {}): Promise<RepairReport> {
    const view = await this.view();
    const signal = view.signal(options.signal);
    const { diffId: diff } = await this.startRepair(id, diffId, { ...options, signal });
    return await poll(`the repair of diff ${diff} did not end`, { timeout: options.timeout, signal }, async () => {
      const report = await this.showRepair(id, diff, { signal });
      return report !== null && report.state !== "pending" && report.state !== "running" ? report : undefined;
    });
  }

  /** Asks for a repair, without waiting for its end. @returns of which diff @throws DroverError NOT_FOUND, WRONG_PHASE, NO_ANSWER */
  async startRepair(id: string, diffId: string, options: Omit<RepairOptions, "timeout"> = {}): Promise<{ diffId: string }> {
    const { signal, onNoWorker, dryRun = false } = options;
    const named = await this.diffReference(id, diffId, { signal });
    await this.channel.send("diff-repair", { ...named, dryRun }, { signal, onNoWorker });
    return { diffId: named.diffId };
  }

  /** The latest repair of a diff; null when there was none. @throws DroverError NOT_FOUND */
  async showRepair(id: string, diffId: string, options: CallOptions = {}): Promise<RepairReport | null> {
    const view = await this.view();
    const signal = view.signal(options.signal);
    const found = await this.find(view, id, signal);
    return await view.diffs.repair(found, await view.diffs.resolve(found, diffId, signal), signal);
  }

  /**
   * Cuts a migration over to its target, and waits for the end. One that is under way is waited for.
   * @returns the report: `completed`, or `failed` when everything was put back (`error` says why); with `dryRun` what stands in the way, and nothing is changed
   * @throws DroverError PREFLIGHT_FAILED with all problems when something stands in the way; NOT_FOUND, NO_ANSWER
   */
  async cutover(id: string, cutoverOptionsInput: CutoverOptionsInput = {}, options: CutoverCallOptions = {}): Promise<CutoverReport> {
    const begun = await this.startCutover(id, cutoverOptionsInput, options);
    if (options.dryRun === true) return begun;
    const { timeout } = begun.options;
    const view = await this.view();
    const signal = view.signal(options.signal);
    const found = await this.find(view, id, signal);
    return await poll(`the cut-over of migration ${id} did not end; it goes on when a worker runs`, { timeout: timeout + CUTOVER_PATIENCE, signal }, async () => {
      const report = await view.cutovers.read(found, signal);
      if (report === null) throw notFound(id, []);
      options.onReport?.(report);
      return report.state === "completed" || report.state === "failed" ? report : undefined;
    });
  }

  /** Begins a cut-over, or looks only (`dryRun`), without waiting for its end. @throws DroverError as `cutover` */
  async startCutover(id: string, cutoverOptionsInput: CutoverOptionsInput = {}, { signal, onNoWorker, dryRun = false }: CutoverCallOptions = {}): Promise<CutoverReport> {
    parseContract(cutoverOptions, cutoverOptionsInput, "the cut-over's options");
    return cutoverReport.parse(await this.channel.send("cutover", { ...(await this.reference(id, { signal })), dryRun, options: cutoverOptionsInput }, { signal, onNoWorker }));
  }

  /** The latest cut-over of a migration; null when there was none. @throws DroverError NOT_FOUND */
  async showCutover(id: string, options: CallOptions = {}): Promise<CutoverReport | null> {
    const view = await this.view();
    const signal = view.signal(options.signal);
    return await view.cutovers.read(await this.find(view, id, signal), signal);
  }

  /** Takes a cut-over back that is under way, and waits until that is done. @throws DroverError NOT_FOUND, WRONG_PHASE after the point of no return */
  async abortCutover(id: string, options: AnswerOptions = {}): Promise<CutoverReport> {
    await this.channel.send("cutover-abort", await this.reference(id, options), options);
    const signal = (await this.view()).signal(options.signal);
    return await poll(`the cut-over of migration ${id} was not taken back`, { timeout: CUTOVER_PATIENCE, signal }, async () => {
      const report = await this.showCutover(id, { signal });
      return report === null || report.state === "undoing" ? undefined : report;
    });
  }

  /** Ends every connection; calls under way end with ABORTED. */
  async close(): Promise<void> {
    await Promise.all([this.loadedView?.then((view) => view.close()), this.channel.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private async command(name: "pause" | "resume" | "stop", id: string, options: AnswerOptions): Promise<MigrationStatus> {
    await this.channel.send(name, await this.reference(id, options), options);
    return await this.status(id, options);
  }

  private async diffCommand(name: "diff-stop" | "diff-resume", id: string, diffId: string, options: AnswerOptions): Promise<DiffReport> {
    const named = await this.diffReference(id, diffId, options);
    await this.channel.send(name, named, options);
    return await this.showDiff(id, named.diffId, options);
  }

  /** How a command's payload names a diff. @throws DroverError NOT_FOUND, CONNECTION_LOST */
  private async diffReference(id: string, diffId: string, options: CallOptions): Promise<{ migration: string; target: string; diffId: string }> {
    const view = await this.view();
    const signal = view.signal(options.signal);
    const found = await this.find(view, id, signal);
    return { migration: id, target: found.target, diffId: await view.diffs.resolve(found, diffId, signal) };
  }

  /** How a command's payload names a migration. @throws DroverError NOT_FOUND, CONNECTION_LOST */
  private async reference(id: string, options: CallOptions): Promise<{ migration: string; target: string }> {
    const view = await this.view();
    const found = await this.find(view, id, view.signal(options.signal));
    return { migration: id, target: found.target };
  }

  private async find(view: StateView, id: string, signal: AbortSignal): Promise<FoundMigration> {
    const { found, unreachable } = await view.finder.find(id, signal);
    if (found) return found;
    throw notFound(id, unreachable);
  }

  /** The source's position now (a GTID set); null while no worker has recorded the migration. */
  async sourcePosition(id: string, options: CallOptions = {}): Promise<string | null> {
    const view = await this.view();
    const signal = view.signal(options.signal);
    const { found } = await view.finder.find(id, signal);
    return found ? await view.sources.ask(found.migration.spec.source, signal) : null;
  }

  /**
   * The phase of the migration if it is there already. The worker decides; asking first gives the answer also when none runs.
   * @throws DroverError MIGRATION_CONFLICT
   */
  private async lookBeforeStart(spec: MigrationSpec, given: AbortSignal | undefined): Promise<Phase | null> {
    // A service that only enqueues need not know the target.
    if (!this.config.connections.has(spec.target.toUpperCase())) return null;
    const view = await this.view();
    const { found } = await view.finder.find(spec.id, view.signal(given));
    if (found === null) return null;
    if (isDeepStrictEqual(found.migration.spec, spec)) return found.migration.phase;
    throw migrationConflict(spec.id);
  }

  /** Whether the same start waits in the queue. @throws DroverError MIGRATION_CONFLICT when one with another spec does */
  private async isQueued(spec: MigrationSpec): Promise<boolean> {
    const start = await this.channel.unansweredStart(spec.id);
    const queued = start === null || start.refusal !== null ? null : migrationSpec.safeParse(start.spec);
    // One that is not valid will be refused by the first worker.
    if (queued?.success !== true) return false;
    if (isDeepStrictEqual(queued.data, spec)) return true;
    throw migrationConflict(spec.id);
  }

  /**
   * A start that lies in Redis alone would be lost with it, and nobody would know: so it is recorded where workers look for
   * unfinished work. Who may not write there leaves it to the queue, as a service does that only enqueues.
   * @throws DroverError MIGRATION_CONFLICT, STATE_VERSION
   */
  private async recordStart(specInput: unknown, spec: MigrationSpec): Promise<void> {
    if (!this.config.connections.has(spec.target.toUpperCase()) || !this.config.connections.has(spec.source.toUpperCase())) return;
    const view = await this.view();
    const signal = view.signal(undefined);
    await view.record(specInput, spec, signal).catch((error: unknown) => {
      if (signal.aborted || !(error instanceof DroverError) || error.code === "MIGRATION_CONFLICT" || error.code === "STATE_VERSION") throw error;
    });
  }

  private view(): Promise<StateView> {
    this.loadedView ??= import("./state-view.js").then(({ StateView }) => new StateView({ config: this.config, backlog: (id) => this.channel.backlog(id), workerPresent: () => this.channel.workerPresent() }));
    return this.loadedView;
  }
}

/** What a worker says to a `start`. */
const startAnswer = z.object({ known: z.enum(PHASES).nullable() });

/** The migration is not there, and why is known. */
function refusedStart(id: string, at: string, refusal: DroverError): DroverError {
  return new DroverError("NOT_FOUND", `there is no migration "${id}": its start at ${at} was refused: ${refusal.message}`, { cure: refusal.cure, problems: refusal.problems });
}

/** Between listing and reading, somebody may have removed it. */
function ignoreRemoved(error: unknown): null {
  if (error instanceof DroverError && error.code === "NOT_FOUND") return null;
  throw error;
}
