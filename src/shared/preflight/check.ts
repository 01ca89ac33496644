/** A check: a question to the shared picture, answered with everything that is wrong. */
import type { PreflightContext } from "./context.js";
import type { Finding } from "./finding.js";

export interface Check {
  /** Shown when the check itself could not be done. */
  name: string;
  run(context: PreflightContext): Finding[] | Promise<Finding[]>;
}
