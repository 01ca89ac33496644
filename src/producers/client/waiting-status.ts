/** A migration whose `start` command is still in the queue. */
import type { MigrationStatus } from "../../shared/contracts/status.js";
import type { UnansweredStart } from "./command-channel.js";

/** The status of a migration that no worker has recorded yet. */
export function waitingStatus(id: string, start: UnansweredStart): MigrationStatus {
  return {
    id,
    phase: "planning",
    tables: [],
    position: { applied: "", source: null },
    lagSeconds: null,
    backlog: { batches: 0, bytes: 0 },
    rates: { copyRowsPerSecond: 0, applyRowsPerSecond: 0 },
    totals: { rowsCopied: 0, bytesCopied: 0, rowsApplied: 0, transactionsApplied: 0, batchesApplied: 0 },
    fenceAgeSeconds: null,
    etaSeconds: null,
    error: null,
    stuck: startWaits(start.since),
    startedAt: start.since,
    updatedAt: start.since,
  };
}

/** Why nothing moves while there is no worker. @param since ISO time of the start */
export function startWaits(since: string): NonNullable<MigrationStatus["stuck"]> {
  return { since, reason: "no worker has taken up the start command yet; is one running?" };
}
