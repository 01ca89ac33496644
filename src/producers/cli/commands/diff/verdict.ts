/** The exit code that a diff's report stands for. */
import type { DiffReport } from "../../../../shared/contracts/diff.js";
import { EXIT, type ExitCode } from "../../exit-codes.js";

export function verdict(report: DiffReport): ExitCode {
  if (report.state === "failed") return EXIT.failed;
  return report.hasMismatch ? EXIT.differences : EXIT.done;
}
