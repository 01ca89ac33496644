/** What a preflight check says. */
import type { DroverError, Problem } from "../errors.js";

/**
 * A problem with its weight. An `error` blocks the start; a `warning` is for the user to know: Drover works, but slower, or what
 * comes after the migration may surprise.
 */
export interface Finding extends Problem {
  severity: "error" | "warning";
}

export function failure(code: string, message: string, cure: string): Finding {
  return { code, message, cure, severity: "error" };
}

export function warning(code: string, message: string, cure: string): Finding {
  return { code, message, cure, severity: "warning" };
}

/** What could not be checked is not taken for good. @param what the check's name, or what it wanted to read */
export function checkFailed(what: string, error: DroverError): Finding {
  return failure("check-failed", `${what}: ${error.message}`, "see what the server's error means, and run the check again");
}

/** The findings that block. */
export function blocking(findings: readonly Finding[]): Finding[] {
  return findings.filter((finding) => finding.severity === "error");
}
