import type { BacklogChain } from "../../shared/backlog/chain.js";

/** What a cut-over needs of the queues. */
export interface CutoverRun {
  chain: BacklogChain;
  /** Puts the jobs of a diff into their queue. */
  ensureDiff(diffId: string): Promise<void>;
  /** How long to stay at it, in milliseconds; the same job goes on then. */
  lease: number;
}
