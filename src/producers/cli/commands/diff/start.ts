/** `drover diff start`. */
import type { Command } from "commander";
import type { DiffReport } from "../../../../shared/contracts/diff.js";
import type { DroverClient } from "../../../client/drover-client.js";
import { durationArgument } from "../../arguments.js";
import { exitCodeOf, type ExitCode } from "../../exit-codes.js";
import { diffLines } from "../../format/diff-lines.js";
import { reportError } from "../../report-error.js";
import { action, type Cli, type Run } from "../../run.js";
import { diffOptionsOf, withDiffOptions, type DiffFlags } from "./options.js";
import { verdict } from "./verdict.js";

interface Options extends DiffFlags {
  id?: string;
  wait?: boolean;
  timeout?: number;
}

export function addDiffStart(diff: Command, cli: Cli): void {
  withDiffOptions(diff
    .command("start")
    .summary("start a comparison")
    .description("Starts a comparison of both sides and prints its id; with --wait its result.\nExits with 1 when it found differences, with 3 when it failed, with 4 after the timeout.")
    .argument("<id>", "the migration"))
    .option("--id <diff>", "the comparison's id: the same with the same options again changes nothing (default: a new one)")
    .option("--wait", "wait for the result")
    .option("--timeout <duration>", "with --wait: at most this long, such as 10m (default: no limit)", durationArgument)
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExamples:\n  drover diff start shop --wait\n  drover diff start shop --tables shop.orders --max-samples 100\n  drover diff start shop --id nightly-2026-12-01 --wait\n  drover diff start shop --where \"region = 'eu'\" --max-rows 1000000 --max-duration 30m")
    .action(
      action(cli, async (run, id: string, options: Options) =>
        run.withClient(async (client) => {
          const { diffId, known } = await client.startDiff(id, diffOptionsOf(options), { diffId: options.id, onNoWorker: run.onNoWorker });
          if (known !== null) run.note(`comparison ${diffId} is there already with these very options (${known}): nothing was changed`);
          if (options.wait === true) return await waitForEnd(run, client, { id, diffId, timeout: options.timeout });
          run.print({ diffId }, () => [diffId]);
          return undefined;
        }),
      ),
    );
}

async function waitForEnd(run: Run, client: DroverClient, wait: { id: string; diffId: string; timeout: number | undefined }): Promise<ExitCode> {
  const { LiveView } = await import("../../live-view.js");
  const view = new LiveView(run.terminal, "stderr");
  let latest: DiffReport | undefined;
  const onReport = (report: DiffReport) => {
    latest = report;
    view.show((paint) => diffLines(report, paint));
  };
  let failure: unknown;
  try {
    latest = await client.waitForDiff(wait.id, wait.diffId, { timeout: wait.timeout, onReport });
  } catch (error) {
    failure = error;
  }
  view.clear();
  if (latest === undefined) throw failure;
  const report = latest;
  run.print(report, (paint) => diffLines(report, paint));
  if (failure === undefined) return verdict(report);
  reportError(failure, run.terminal, false);
  return exitCodeOf(failure);
}
