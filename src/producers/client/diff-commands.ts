/** Diffs, their repairs and their schedules, as `DroverClient` commands and shows them. */
import { z } from "zod";
import { DIFF_STATES, diffOptions, diffScheduleSettings, newDiffId, type DiffOptionsInput, type DiffReport, type DiffSchedule, type DiffScheduleInput } from "../../shared/contracts/diff.js";
import { parseContract } from "../../shared/contracts/spec.js";
import { DroverError } from "../../shared/errors.js";
import type { RepairReport } from "../../shared/state/diff-repair-report.js";
import type { CallOptions, ListDiffsOptions, RepairOptions, ShowDiffOptions, StartDiffOptions, StartDiffResult, WaitForDiffOptions } from "./call-options.js";
import type { AnswerOptions, CommandChannel } from "./command-channel.js";
import { makeDiffId } from "./diff-id.js";
import { poll } from "./poll.js";
import type { StateAccess } from "./state-access.js";

export class DiffCommands {
  private readonly channel: CommandChannel;
  private readonly access: StateAccess;

  constructor(options: { channel: CommandChannel; access: StateAccess }) {
    this.channel = options.channel;
    this.access = options.access;
  }

  async start(id: string, input: DiffOptionsInput, { diffId: given, ...options }: StartDiffOptions): Promise<StartDiffResult> {
    const wanted = parseContract(diffOptions, input, "the diff's options");
    if (given !== undefined) parseContract(givenId, { diffId: given }, "the diff's id");
    // The worker decides; asking first gives the answer also when none runs.
    const { target, known } = await this.access.locate(id, options, async ({ view, signal, found }) => ({
      target: found.target,
      known: given === undefined ? null : await view.diffs.known(found, given, wanted, signal),
    }));
    if (given !== undefined && known !== null) return { diffId: given, known };
    const diffId = given ?? makeDiffId(new Date());
    const answer = startAnswer.safeParse(await this.channel.send("diff-start", { migration: id, target, diffId, options: input }, options));
    return { diffId, known: answer.data?.known ?? null };
  }

  async show(id: string, diffId: string, options: ShowDiffOptions): Promise<DiffReport> {
    return await this.access.locate(id, options, async ({ view, signal, found }) => await view.diffs.read(found, diffId, options.showValues ?? false, signal));
  }

  async list(id: string, options: ListDiffsOptions): Promise<DiffReport[]> {
    return await this.access.locate(id, options, async ({ view, signal, found }) => await view.diffs.list(found, options, signal));
  }

  async waitFor(id: string, diffId: string, options: WaitForDiffOptions): Promise<DiffReport> {
    return await this.access.open(options, async ({ signal }) => {
      // `last` is the one that it is at the first look.
      let named = diffId;
      return await poll(`diff ${diffId} of migration ${id} did not end`, { timeout: options.timeout, signal }, async () => {
        const report = await this.show(id, named, { signal });
        named = report.diffId;
        options.onReport?.(report);
        if (report.state === "failed" || report.state === "stopped")
          throw new DroverError("DIFF_FAILED", `diff ${report.diffId} of migration ${id} ${report.state === "stopped" ? "was stopped" : "failed"}${report.lastError === null ? "" : `: ${report.lastError.message}`}`, { cure: `\`drover diff resume ${id} ${report.diffId}\` takes it up again` });
        return report.state === "completed" ? report : undefined;
      });
    });
  }

  /** `diff-stop` and `diff-resume`. */
  async change(name: "diff-stop" | "diff-resume", id: string, diffId: string, options: AnswerOptions): Promise<DiffReport> {
    const named = await this.access.diffReference(id, diffId, options);
    await this.channel.send(name, named, options);
    return await this.show(id, named.diffId, options);
  }

  async remove(id: string, diffId: string, options: AnswerOptions): Promise<DiffReport> {
    const named = await this.access.diffReference(id, diffId, options);
    const report = await this.show(id, named.diffId, options);
    await this.channel.send("diff-delete", named, options);
    return report;
  }

  async repair(id: string, diffId: string, options: RepairOptions): Promise<RepairReport> {
    return await this.access.open(options, async ({ signal }) => {
      const { diffId: diff } = await this.startRepair(id, diffId, { ...options, signal });
      return await poll(`the repair of diff ${diff} did not end`, { timeout: options.timeout, signal }, async () => {
        const report = await this.showRepair(id, diff, { signal });
        return report !== null && report.state !== "pending" && report.state !== "running" ? report : undefined;
      });
    });
  }

  async startRepair(id: string, diffId: string, { signal, onNoWorker, dryRun = false }: Omit<RepairOptions, "timeout">): Promise<{ diffId: string }> {
    const named = await this.access.diffReference(id, diffId, { signal });
    await this.channel.send("diff-repair", { ...named, dryRun }, { signal, onNoWorker });
    return { diffId: named.diffId };
  }

  async showRepair(id: string, diffId: string, options: CallOptions): Promise<RepairReport | null> {
    return await this.access.locate(id, options, async ({ view, signal, found }) => await view.diffs.repair(found, await view.diffs.resolve(found, diffId, signal), signal));
  }

  async schedule(id: string, schedule: DiffScheduleInput, options: AnswerOptions): Promise<DiffSchedule> {
    const { name } = parseContract(diffScheduleSettings, schedule, "the diff's schedule");
    await this.channel.send("diff-schedule", { ...(await this.access.reference(id, options)), ...schedule }, options);
    const stored = (await this.schedules(id, options)).find((one) => one.name === name);
    if (stored === undefined) throw new DroverError("NOT_FOUND", `the schedule "${name}" of migration ${id} was removed meanwhile`);
    return stored;
  }

  async unschedule(id: string, name: string, options: AnswerOptions): Promise<{ id: string; name: string }> {
    await this.channel.send("diff-unschedule", { ...(await this.access.reference(id, options)), name }, options);
    return { id, name };
  }

  async schedules(id: string, options: CallOptions): Promise<DiffSchedule[]> {
    return await this.access.locate(id, options, async ({ view, signal, found }) => await view.diffs.schedules(found, signal));
  }
}

const givenId = z.strictObject({ diffId: newDiffId });
/** What a worker says to a `diff-start`. */
const startAnswer = z.object({ known: z.enum(DIFF_STATES).nullable() });
