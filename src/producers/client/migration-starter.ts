/** Starting a migration, and looking at what stands in its way first. */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { migrationSpec, parseMigrationSpec, type MigrationSpec, type MigrationSpecInput } from "../../shared/contracts/spec.js";
import { PHASES, type Phase } from "../../shared/contracts/status.js";
import { DroverError } from "../../shared/errors.js";
import type { Finding } from "../../shared/preflight/finding.js";
import { migrationConflict } from "../../shared/state/record-migration.js";
import type { CallOptions, StartOptions, StartResult } from "./call-options.js";
import type { CommandChannel } from "./command-channel.js";
import type { StateAccess } from "./state-access.js";

export class MigrationStarter {
  private readonly channel: CommandChannel;
  private readonly access: StateAccess;

  constructor(options: { channel: CommandChannel; access: StateAccess }) {
    this.channel = options.channel;
    this.access = options.access;
  }

  async check(specInput: MigrationSpecInput, options: CallOptions): Promise<Finding[]> {
    return await this.access.open(options, async ({ view, signal }) => {
      const spec = parseMigrationSpec(specInput);
      const [redis, servers] = await Promise.all([this.channel.check(spec.options.backlogBytes), view.preflight(spec, signal)]);
      return [...redis, ...servers];
    });
  }

  async start(specInput: MigrationSpecInput, options: StartOptions): Promise<StartResult> {
    const spec = parseMigrationSpec(specInput);
    const known = await this.lookBefore(spec, options);
    if (known !== null) return { id: spec.id, accepted: true, known, warnings: [] };
    const findings = options.preflight === true ? await this.check(specInput, options) : [];
    const blocking = findings.filter((finding) => finding.severity === "error");
    if (blocking.length > 0) throw new DroverError("PREFLIGHT_FAILED", `migration ${spec.id} cannot be started`, { problems: blocking });
    const accepted = await this.channel.workerPresent();
    // Without a worker there is nobody to wait for: the start is queued as it was asked, once.
    if (!accepted && (await this.isQueued(spec))) return { id: spec.id, accepted, known: "planning", warnings: findings };
    const job = await this.channel.enqueue("start", { spec: specInput });
    // What is queued will be carried out, also when the caller has gone meanwhile.
    if (!accepted) await this.record(specInput, spec);
    const answer = startAnswer.safeParse(accepted ? await this.channel.answer(job, options) : {});
    return { id: spec.id, accepted, known: answer.data?.known ?? null, warnings: findings };
  }

  /**
   * The phase of the migration if it is there already. The worker decides; asking first gives the answer also when none runs.
   * @throws DroverError MIGRATION_CONFLICT
   */
  private async lookBefore(spec: MigrationSpec, options: CallOptions): Promise<Phase | null> {
    // A service that only enqueues need not know the target.
    if (!this.access.knows(spec.target)) return null;
    return await this.access.open({ signal: options.signal }, async ({ view, signal }) => {
      const { found } = await view.finder.find(spec.id, signal);
      if (found === null) return null;
      if (isDeepStrictEqual(found.migration.spec, spec)) return found.migration.phase;
      throw migrationConflict(spec.id);
    });
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
  private async record(specInput: unknown, spec: MigrationSpec): Promise<void> {
    if (!this.access.knows(spec.target) || !this.access.knows(spec.source)) return;
    return await this.access.open({}, async ({ view, signal }) => {
      await view.record(specInput, spec, signal).catch((error: unknown) => {
        if (signal.aborted || !(error instanceof DroverError) || error.code === "MIGRATION_CONFLICT" || error.code === "STATE_VERSION") throw error;
      });
    });
  }
}

/** What a worker says to a `start`. */
const startAnswer = z.object({ known: z.enum(PHASES).nullable() });
