/** Problems, each with its cure, for people. */
import type { Problem } from "../../../shared/errors.js";
import type { Paint } from "../terminal.js";

export function problemLines(problems: readonly (Problem & { severity?: "error" | "warning" })[], paint: Paint): string[] {
  return problems.flatMap((problem) => {
    const mark = problem.severity === "warning" ? paint("yellow", "!") : paint("red", "✗");
    return [`${mark} ${problem.message} ${paint("dim", `[${problem.code}]`)}`, ...(problem.cure === "" ? [] : [`  ${paint("green", "→")} ${problem.cure}`])];
  });
}
