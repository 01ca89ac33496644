/** What the jobs of one history share. */
import type { Chain } from "./chain.js";
import type { Random } from "./random.js";
import type { Source } from "./source.js";
import type { Target } from "./target.js";

/**
 * A job runs from `yield` to `yield` without anybody between: that is one statement, one Redis command or one
 * transaction. At a `yield` its worker may be stopped for ever (a crash) or for long (a zombie), while other workers run
 * the same job.
 */
export type Job = Generator<void, void, void>;

export interface World {
  source: Source;
  target: Target;
  chain: Chain;
  random: Random;
  variant: Variant;
  mistakes: Mistakes;
}

export interface Variant {
  /** A batch is applied row by row, each in a transaction of its own: deletes, barrier, replaces, barrier, fence. */
  split?: boolean;
  /** Of the faults only one, and often: Redis comes back with an older snapshot. */
  restores?: boolean;
}

/** Planted on purpose, to see that the explorer would find them. */
export interface Mistakes {
  /** 2c commits whatever the fence says (I1). */
  chunkIgnoresFence?: boolean;
  /** 2a does not wait until the reader has executed all that the fence holds (I1). */
  readsTooEarly?: boolean;
  /** P0 is the end of the binlog, not `gtid_executed` (I2). */
  startsAtBinlogHead?: boolean;
  /** Two lanes by row key, each at its own batch (I2). */
  lanesWithoutBarrier?: boolean;
  /** Replaces before deletes, under a case-insensitive key (I2). */
  replacesFirst?: boolean;
  /** A batch is applied wherever the fence stands (I3). */
  ignoresFrom?: boolean;
  /** Chunks may be copied between two parts of one transaction (I1). */
  chunksBetweenParts?: boolean;
  /** The tail hands on rows of a table that is still to be created anew (I2). */
  followsPending?: boolean;
  /** The start position of a table that started over is recorded without a new epoch (I3). */
  startWithoutEpoch?: boolean;
  /** The tail reads the tables before the fence (I3). */
  tablesBeforeFence?: boolean;
  /** A chain that begins anew keeps the epoch of the old one (I3). */
  newChainKeepsEpoch?: boolean;
  /** A chain goes on when Redis has come back with an older snapshot (I3). */
  trustsSnapshots?: boolean;
  /** A migration that was removed and started again begins with the same fence (I3). */
  restartKeepsEpoch?: boolean;
  /** Split batches are written without claiming the fence first (I3). */
  splitWithoutClaim?: boolean;
}
