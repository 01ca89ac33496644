/**
 * The typed client: what the CLI, the HTTP API and other services use to command migrations and to look at them.
 * Commands are jobs of the queue `control`, carried out by whichever worker is free; status is read from the state
 * schema on the target, so it is true also when Redis was emptied or no worker runs.
 */
import type { Telemetry } from "bullmq";
import { loadConfig, type Config } from "../../shared/config.js";
import type { CutoverOptionsInput, CutoverReport } from "../../shared/contracts/cutover.js";
import type { DiffOptionsInput, DiffReport, DiffSchedule, DiffScheduleInput } from "../../shared/contracts/diff.js";
import type { MigrationSpecInput } from "../../shared/contracts/spec.js";
import type { MigrationStatus } from "../../shared/contracts/status.js";
import { DroverError } from "../../shared/errors.js";
import type { Finding } from "../../shared/preflight/finding.js";
import type { RepairReport } from "../../shared/state/diff-repair-report.js";
import type { CallOptions, CutoverCallOptions, ListDiffsOptions, MigrationList, RepairOptions, ShowDiffOptions, StartDiffOptions, StartDiffResult, StartOptions, StartResult, WaitForDiffOptions, WaitForOptions } from "./call-options.js";
import { clientConfig, type DroverClientOptions } from "./client-options.js";
import { CommandChannel, type AnswerOptions } from "./command-channel.js";
import { CutoverCommands } from "./cutover-commands.js";
import { DiffCommands } from "./diff-commands.js";
import { notFound } from "./migration-finder.js";
import { MigrationStarter } from "./migration-starter.js";
import { poll } from "./poll.js";
import { StateAccess } from "./state-access.js";
import type { WaitPhase } from "../../shared/contracts/wait.js";
import { waitingStatus } from "./waiting-status.js";

export class DroverClient {
  private readonly channel: CommandChannel;
  private readonly access: StateAccess;
  private readonly starter: MigrationStarter;
  private readonly diffs: DiffCommands;
  private readonly cutovers: CutoverCommands;

  /** @throws DroverError CONFIG_INVALID */
  constructor(options: DroverClientOptions | { config: Config; telemetry?: Telemetry | undefined }) {
    const config = "config" in options ? options.config : clientConfig(options);
    const channel = new CommandChannel({ ...config, telemetry: options.telemetry });
    const access = new StateAccess({ config, channel });
    this.channel = channel;
    this.access = access;
    this.starter = new MigrationStarter({ channel, access });
    this.diffs = new DiffCommands({ channel, access });
    this.cutovers = new CutoverCommands({ channel, access });
  }

  /** A client with the settings of the environment (`DROVER_…`). @throws DroverError CONFIG_INVALID */
  static fromEnvironment(environment: NodeJS.ProcessEnv = process.env): DroverClient {
    return new DroverClient({ config: loadConfig(environment) });
  }

  /** What stands in the way of a migration, and what to know before it; nothing is changed. @throws DroverError SPEC_INVALID */
  async check(specInput: MigrationSpecInput, options: CallOptions = {}): Promise<Finding[]> {
    return await this.starter.check(specInput, options);
  }

  /**
   * Starts a migration. The same id with the same spec is the same migration: starting it again changes nothing.
   * @throws DroverError SPEC_INVALID, MIGRATION_CONFLICT, PREFLIGHT_FAILED, REDIS_UNAVAILABLE, NO_ANSWER
   */
  async startMigration(specInput: MigrationSpecInput, options: StartOptions = {}): Promise<StartResult> {
    return await this.starter.start(specInput, options);
  }

  /** @throws DroverError NOT_FOUND, CONNECTION_LOST */
  async status(id: string, options: CallOptions = {}): Promise<MigrationStatus> {
    return await this.access.open(options, async ({ view, signal }) => {
      const { found, unreachable } = await view.finder.find(id, signal);
      if (found) return await view.statuses.read(found, signal);
      const start = await this.channel.unansweredStart(id);
      if (start?.refusal === null) return waitingStatus(id, start);
      throw start === null ? notFound(id, unreachable) : refusedStart(id, start.since, start.refusal);
    });
  }

  /** All migrations of all configured servers, oldest first; also those whose start no worker has taken up. */
  async listMigrations(options: CallOptions = {}): Promise<MigrationList> {
    return await this.access.open(options, async ({ view, signal }) => {
      const [{ found, unreachable }, starts] = await Promise.all([view.finder.list(signal), this.channel.unansweredStarts().catch(() => new Map<string, never>())]);
      const migrations = await Promise.all(found.map((one) => view.statuses.read(one, signal).catch(ignoreRemoved)));
      const waiting = [...starts].filter(([id, start]) => start.refusal === null && !found.some((one) => one.migration.id === id)).map(([id, start]) => waitingStatus(id, start));
      return {
        migrations: [...migrations.filter((status) => status !== null), ...waiting],
        unreachable: unreachable.map(({ connection, error }) => ({ connection, message: error.message })),
      };
    });
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
    await this.channel.send("remove", await this.access.reference(id, options), options);
    return status;
  }

  /**
   * Waits for a phase.
   * @throws DroverError TIMEOUT; MIGRATION_FAILED or WRONG_PHASE when it will not come; NOT_FOUND
   */
  async waitFor(id: string, wanted: WaitPhase, options: WaitForOptions = {}): Promise<MigrationStatus> {
    return await this.access.open(options, async ({ signal }) => {
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
    });
  }

  /** The source's position now (a GTID set); null while no worker has recorded the migration. */
  async sourcePosition(id: string, options: CallOptions = {}): Promise<string | null> {
    return await this.access.open(options, async ({ view, signal }) => {
      const { found } = await view.finder.find(id, signal);
      return found ? await view.sources.ask(found.migration.spec.source, signal) : null;
    });
  }

  /**
   * Starts a comparison of both sides. With a `diffId` it may be repeated: the same id with the same options is the same diff.
   * @throws DroverError NOT_FOUND, SPEC_INVALID, DIFF_CONFLICT, WRONG_PHASE (the copy is not done), NO_ANSWER
   */
  async startDiff(id: string, diffOptionsInput: DiffOptionsInput = {}, options: StartDiffOptions = {}): Promise<StartDiffResult> {
    return await this.diffs.start(id, diffOptionsInput, options);
  }

  /**
   * @param diffId `last` is the newest
   * @throws DroverError NOT_FOUND
   */
  async showDiff(id: string, diffId = "last", options: ShowDiffOptions = {}): Promise<DiffReport> {
    return await this.diffs.show(id, diffId, options);
  }

  /** The newest hundred, newest first; without samples. */
  async listDiffs(id: string, options: ListDiffsOptions = {}): Promise<DiffReport[]> {
    return await this.diffs.list(id, options);
  }

  /** Waits for a diff's end. @throws DroverError TIMEOUT; DIFF_FAILED when it failed or was stopped */
  async waitForDiff(id: string, diffId: string, options: WaitForDiffOptions = {}): Promise<DiffReport> {
    return await this.diffs.waitFor(id, diffId, options);
  }

  /** Starts diffs again and again; a schedule of the same name is replaced. @throws DroverError NOT_FOUND, SPEC_INVALID, NO_ANSWER */
  async scheduleDiff(id: string, schedule: DiffScheduleInput, options: AnswerOptions = {}): Promise<DiffSchedule> {
    return await this.diffs.schedule(id, schedule, options);
  }

  /** Ends a schedule; its diffs stay. @throws DroverError NOT_FOUND, NO_ANSWER */
  async unscheduleDiff(id: string, name = "default", options: AnswerOptions = {}): Promise<{ id: string; name: string }> {
    return await this.diffs.unschedule(id, name, options);
  }

  /** By name. @throws DroverError NOT_FOUND */
  async listDiffSchedules(id: string, options: CallOptions = {}): Promise<DiffSchedule[]> {
    return await this.diffs.schedules(id, options);
  }

  /** @param diffId `last` is the newest, here as in every command on a diff */
  async stopDiff(id: string, diffId: string, options: AnswerOptions = {}): Promise<DiffReport> {
    return await this.diffs.change("diff-stop", id, diffId, options);
  }

  /** Takes up a stopped or failed diff where it stood. */
  async resumeDiff(id: string, diffId: string, options: AnswerOptions = {}): Promise<DiffReport> {
    return await this.diffs.change("diff-resume", id, diffId, options);
  }

  /** @returns its last report */
  async deleteDiff(id: string, diffId: string, options: AnswerOptions = {}): Promise<DiffReport> {
    return await this.diffs.remove(id, diffId, options);
  }

  /**
   * Makes the target equal the source where a diff confirmed a difference, and waits until that is done.
   * @returns the report, also of a repair that failed (`state`)
   * @throws DroverError NOT_FOUND, WRONG_PHASE (the diff has not ended), NO_ANSWER, TIMEOUT
   */
  async repairDiff(id: string, diffId: string, options: RepairOptions = {}): Promise<RepairReport> {
    return await this.diffs.repair(id, diffId, options);
  }

  /** Asks for a repair, without waiting for its end. @returns of which diff @throws DroverError NOT_FOUND, WRONG_PHASE, NO_ANSWER */
  async startRepair(id: string, diffId: string, options: Omit<RepairOptions, "timeout"> = {}): Promise<{ diffId: string }> {
    return await this.diffs.startRepair(id, diffId, options);
  }

  /** The latest repair of a diff; null when there was none. @throws DroverError NOT_FOUND */
  async showRepair(id: string, diffId: string, options: CallOptions = {}): Promise<RepairReport | null> {
    return await this.diffs.showRepair(id, diffId, options);
  }

  /**
   * Cuts a migration over to its target, and waits for the end. One that is under way is waited for.
   * @returns the report: `completed`, or `failed` when everything was put back (`error` says why); with `dryRun` what stands in the way, and nothing is changed
   * @throws DroverError PREFLIGHT_FAILED with all problems when something stands in the way; NOT_FOUND, NO_ANSWER
   */
  async cutover(id: string, cutoverOptionsInput: CutoverOptionsInput = {}, options: CutoverCallOptions = {}): Promise<CutoverReport> {
    return await this.cutovers.run(id, cutoverOptionsInput, options);
  }

  /** Begins a cut-over, or looks only (`dryRun`), without waiting for its end. @throws DroverError as `cutover` */
  async startCutover(id: string, cutoverOptionsInput: CutoverOptionsInput = {}, options: CutoverCallOptions = {}): Promise<CutoverReport> {
    return await this.cutovers.start(id, cutoverOptionsInput, options);
  }

  /** The latest cut-over of a migration; null when there was none. @throws DroverError NOT_FOUND */
  async showCutover(id: string, options: CallOptions = {}): Promise<CutoverReport | null> {
    return await this.cutovers.show(id, options);
  }

  /** Takes a cut-over back that is under way, and waits until that is done. @throws DroverError NOT_FOUND, WRONG_PHASE after the point of no return */
  async abortCutover(id: string, options: AnswerOptions = {}): Promise<CutoverReport> {
    return await this.cutovers.abort(id, options);
  }

  /** Ends every connection; calls under way end with ABORTED. */
  async close(): Promise<void> {
    await Promise.all([this.access.close(), this.channel.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private async command(name: "pause" | "resume" | "stop", id: string, options: AnswerOptions): Promise<MigrationStatus> {
    await this.channel.send(name, await this.access.reference(id, options), options);
    return await this.status(id, options);
  }
}

/** The migration is not there, and why is known. */
function refusedStart(id: string, at: string, refusal: DroverError): DroverError {
  return new DroverError("NOT_FOUND", `there is no migration "${id}": its start at ${at} was refused: ${refusal.message}`, { cure: refusal.cure, problems: refusal.problems });
}

/** Between listing and reading, somebody may have removed it. */
function ignoreRemoved(error: unknown): null {
  if (error instanceof DroverError && error.code === "NOT_FOUND") return null;
  throw error;
}
