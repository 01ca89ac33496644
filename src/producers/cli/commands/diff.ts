/** `drover diff …`: comparisons of both sides. */
import type { Command } from "commander";
import type { Cli } from "../run.js";
import { addDiffStart } from "./diff/start.js";
import { addDiffShow } from "./diff/show.js";
import { addDiffList } from "./diff/list.js";
import { addDiffLifecycle } from "./diff/lifecycle.js";
import { addDiffRepair } from "./diff/repair.js";
import { addDiffSchedule } from "./diff/schedule.js";

export function addDiffCommands(program: Command, cli: Cli): void {
  const diff = program.command("diff").summary("compare both sides").description("Compares the rows of source and target, also while both are written to, and repairs what differs.").addHelpText("after", "\nExamples:\n  drover diff start shop --wait\n  drover diff show shop\n  drover diff repair shop last --dry-run\n  drover diff schedule shop --every 1h");
  addDiffStart(diff, cli);
  addDiffShow(diff, cli);
  addDiffList(diff, cli);
  addDiffLifecycle(diff, cli);
  addDiffRepair(diff, cli);
  addDiffSchedule(diff, cli);
}
