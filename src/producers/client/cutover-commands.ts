/** Cutting over and taking it back, as `DroverClient` commands and shows it. */
import { cutoverOptions, cutoverReport, type CutoverOptionsInput, type CutoverReport } from "../../shared/contracts/cutover.js";
import { parseContract } from "../../shared/contracts/spec.js";
import type { CallOptions, CutoverCallOptions } from "./call-options.js";
import type { AnswerOptions, CommandChannel } from "./command-channel.js";
import { notFound } from "./migration-finder.js";
import { poll } from "./poll.js";
import type { StateAccess } from "./state-access.js";

/** What putting back may take after a cut-over's own deadline, in milliseconds. */
const PATIENCE = 60_000;

export class CutoverCommands {
  private readonly channel: CommandChannel;
  private readonly access: StateAccess;

  constructor(options: { channel: CommandChannel; access: StateAccess }) {
    this.channel = options.channel;
    this.access = options.access;
  }

  /** Begins, and waits for the end; with `dryRun` it looks only. */
  async run(id: string, input: CutoverOptionsInput, options: CutoverCallOptions): Promise<CutoverReport> {
    const begun = await this.start(id, input, options);
    if (options.dryRun === true) return begun;
    const { timeout } = begun.options;
    return await this.access.locate(id, options, async ({ view, signal, found }) => {
      return await poll(`the cut-over of migration ${id} did not end; it goes on when a worker runs`, { timeout: timeout + PATIENCE, signal }, async () => {
        const report = await view.cutovers.read(found, signal);
        if (report === null) throw notFound(id, []);
        options.onReport?.(report);
        return report.state === "completed" || report.state === "failed" ? report : undefined;
      });
    });
  }

  async start(id: string, input: CutoverOptionsInput, { signal, onNoWorker, dryRun = false }: CutoverCallOptions): Promise<CutoverReport> {
    parseContract(cutoverOptions, input, "the cut-over's options");
    return cutoverReport.parse(await this.channel.send("cutover", { ...(await this.access.reference(id, { signal })), dryRun, options: input }, { signal, onNoWorker }));
  }

  async show(id: string, options: CallOptions): Promise<CutoverReport | null> {
    return await this.access.locate(id, options, async ({ view, signal, found }) => await view.cutovers.read(found, signal));
  }

  async abort(id: string, options: AnswerOptions): Promise<CutoverReport> {
    await this.channel.send("cutover-abort", await this.access.reference(id, options), options);
    return await this.access.open(options, async ({ signal }) => {
      return await poll(`the cut-over of migration ${id} was not taken back`, { timeout: PATIENCE, signal }, async () => {
        const report = await this.show(id, { signal });
        return report === null || report.state === "undoing" ? undefined : report;
      });
    });
  }
}
