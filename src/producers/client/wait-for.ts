/** Whether a migration has reached a phase that somebody waits for. */
import type { MigrationStatus, Phase } from "../../shared/contracts/status.js";
import { DroverError } from "../../shared/errors.js";
import { positionCovers } from "../../shared/mysql/position.js";
import type { WaitPhase } from "../../shared/contracts/wait.js";

const COPIED: readonly Phase[] = ["catching-up", "streaming", "completed"];

/**
 * Whether a migration has reached what is waited for.
 * @param mark the source's position when the wait for `caught-up` began
 * @returns true, false (not yet), or the error why it never will
 */
export function reached(status: MigrationStatus, wanted: WaitPhase, mark: string | null): boolean | DroverError {
  const { phase } = status;
  if (wanted === "stopped") return phase === "stopped" || phase === "completed";
  const copied = COPIED.includes(phase) || (phase === "paused" && status.tables.length > 0 && status.tables.every((table) => table.phase === "copied"));
  if (wanted === "copied" && copied) return true;
  if (wanted === "streaming" && phase === "streaming") return true;
  // During the copy the fence stands still, so a covered position alone does not mean that the rows are there.
  if (wanted === "caught-up" && mark !== null && copied && positionCovers(status.position.applied, mark)) return true;
  if (phase === "failed") return failed(status, wanted, status.error === null ? "it failed" : `it failed: ${status.error.message}`);
  if (phase === "stopped") return failed(status, wanted, "it was stopped");
  if (phase === "completed") return new DroverError("WRONG_PHASE", `migration ${status.id} is completed and follows the source no more: it will not be ${wanted}`, { cure: "wait for `copied` or `stopped`; a migration that follows has the mode copy+follow" });
  return false;
}

function failed(status: MigrationStatus, wanted: WaitPhase, why: string): DroverError {
  const cure = status.phase === "failed" ? `remove the cause, then \`drover resume ${status.id}\`` : undefined;
  return new DroverError("MIGRATION_FAILED", `migration ${status.id} will not be ${wanted}: ${why}`, { cure });
}
