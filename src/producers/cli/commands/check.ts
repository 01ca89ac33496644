/** `drover check`: everything that stands in a migration's way, at once. */
import type { Command } from "commander";
import { readConfig, settingsProblems } from "../../../shared/config.js";
import { DroverError, type Problem } from "../../../shared/errors.js";
import type { Finding } from "../../../shared/preflight/finding.js";
import { EXIT } from "../exit-codes.js";
import { plural } from "../format/numbers.js";
import { problemLines } from "../format/problem-lines.js";
import { action, type Cli } from "../run.js";
import { readSpec } from "../spec-file.js";

export function addCheckCommand(program: Command, cli: Cli): void {
  program
    .command("check")
    .summary("look for problems of a spec and both servers")
    .description("Checks the spec and both servers, and prints all problems at once, each with its cure. Changes nothing.\nExits with 2 when something stands in the way; warnings alone do not.")
    .argument("<spec>", "file of YAML or JSON, - for stdin")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExamples:\n  drover check shop.yaml\n  drover check - --json < shop.json")
    .action(
      action(cli, async (run, path: string) => {
        const { config, errors } = readConfig(run.terminal.environment);
        const settings = settingsProblems(errors).map((problem): Finding => ({ ...problem, severity: "error" }));
        const found = await run.withClient(async (client) => {
          try {
            return await client.check(await readSpec(path, run.terminal.stdin));
          } catch (error) {
            return findingsOf(error);
          }
        }, config);
        const findings = [...settings, ...found.filter((finding) => !followsFrom(finding, settings))];
        const ok = findings.every((finding) => finding.severity !== "error");
        run.print({ ok, problems: findings }, (paint) => [...problemLines(findings, paint), summary(findings), ...(ok ? [`${paint("green", "→")} cutting over needs more privileges: drover grants ${path} --cutover [--reverse]`] : [])]);
        return ok ? EXIT.done : EXIT.usage;
      }),
    );
}

/** What is wrong with the spec or the settings is a finding as well. */
function findingsOf(error: unknown): Finding[] {
  if (!(error instanceof DroverError) || error.kind !== "config") throw error;
  const problems: readonly Problem[] = error.problems.length > 0 ? error.problems : [{ code: error.code, message: error.message, cure: error.cure ?? "" }];
  return problems.map((problem) => ({ ...problem, severity: "error" }));
}

/** What is said of a setting that is wrong need not be said again of the connection that is missing for it, nor of the Redis that was taken instead. */
function followsFrom({ code, message }: Finding, settings: readonly Finding[]): boolean {
  if (code.startsWith("redis")) return settings.some((setting) => setting.message.includes("DROVER_REDIS_URL"));
  const name = code === "connection-unknown" ? /^unknown connection "(.*)"$/.exec(message)?.[1]?.toUpperCase() : undefined;
  return name !== undefined && settings.some((setting) => setting.message.startsWith(`connection ${name} `) || setting.message.startsWith(`connection ${name}:`));
}

function summary(findings: readonly Finding[]): string {
  const errors = findings.filter((finding) => finding.severity === "error").length;
  const warnings = findings.length - errors;
  const parts = [errors === 0 ? "" : plural(errors, "problem"), warnings === 0 ? "" : plural(warnings, "warning")].filter((part) => part !== "");
  return parts.length === 0 ? "no problems" : parts.join(", ");
}
