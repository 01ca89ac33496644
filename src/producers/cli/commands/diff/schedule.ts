/** `drover diff schedule`, `schedules` and `unschedule`. */
import type { Command } from "commander";
import type { DiffSchedule } from "../../../../shared/contracts/diff.js";
import { durationArgument, integerArgument } from "../../arguments.js";
import { seconds } from "../../format/numbers.js";
import { textTable } from "../../format/text-table.js";
import { action, type Cli } from "../../run.js";
import type { Paint } from "../../terminal.js";
import { diffOptionsOf, withDiffOptions, type DiffFlags } from "./options.js";

interface Flags extends DiffFlags {
  every: number;
  name?: string;
  keep?: number;
}

export function addDiffSchedule(diff: Command, cli: Cli): void {
  withDiffOptions(
    diff
      .command("schedule")
      .summary("compare again and again")
      .description("Starts a comparison at once and then at every interval, unless the one before is still at work. A schedule of the same name is replaced.")
      .argument("<id>", "the migration")
      .requiredOption("--every <duration>", "the interval, such as 1h", durationArgument)
      .option("--name <name>", "what the schedule is called, and its comparisons begin with (default: default)")
      .option("--keep <n>", "finished comparisons that are kept (default: 10)", integerArgument(1)),
  )
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExamples:\n  drover diff schedule shop --every 1h\n  drover diff schedule shop --every 1d --name orders --tables shop.orders --keep 30 --replica SRC2")
    .action(
      action(cli, async (run, id: string, { every, name, keep, ...flags }: Flags) => {
        const schedule = await run.withClient((client) =>
          client.scheduleDiff(id, { every, ...(name === undefined ? {} : { name }), ...(keep === undefined ? {} : { keep }), options: diffOptionsOf(flags) }, { onNoWorker: run.onNoWorker }),
        );
        run.print(schedule, (paint) => scheduleTable([schedule], paint));
      }),
    );

  diff
    .command("schedules")
    .description("list the schedules of a migration")
    .argument("<id>", "the migration")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample:\n  drover diff schedules shop")
    .action(
      action(cli, async (run, id: string) => {
        const schedules = await run.withClient((client) => client.listDiffSchedules(id));
        run.print(schedules, (paint) => scheduleTable(schedules, paint));
      }),
    );

  diff
    .command("unschedule")
    .description("end a schedule; its comparisons stay")
    .argument("<id>", "the migration")
    .argument("[name]", "the schedule", "default")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExamples:\n  drover diff unschedule shop\n  drover diff unschedule shop orders")
    .action(
      action(cli, async (run, id: string, name: string) => {
        const ended = await run.withClient((client) => client.unscheduleDiff(id, name, { onNoWorker: run.onNoWorker }));
        run.print(ended, () => [`${name}: ended`]);
      }),
    );
}

function scheduleTable(schedules: readonly DiffSchedule[], paint: Paint): string[] {
  if (schedules.length === 0) return ["no schedules"];
  const header = ["SCHEDULE", "EVERY", "KEEPS", "LATEST", "NEXT"].map((cell) => paint("dim", cell));
  return textTable(header, schedules.map((s) => [s.name, seconds(s.every / 1000), String(s.keep), s.lastDiffId ?? "–", s.nextAt]), ["left", "right", "right"]);
}
