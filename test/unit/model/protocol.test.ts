/**
 * The protocol of docs/protocol.md as an executable model, explored by random histories. Each history mixes writers on the
 * source, jobs of all kinds by several workers, crashes, zombies, an emptied Redis or one of older snapshots, pauses, tables and migrations that start over,
 * and ends with a comparison of both sides. To see a history again: `runHistory(SEED)`.
 */
import { describe, expect, it } from "vitest";
import { runHistory } from "./history.js";
import type { Mistakes, Variant } from "./world.js";

/** More of them for a change of the protocol: `DROVER_MODEL_HISTORIES=200000 npx vitest run --project unit test/unit/model`. */
const HISTORIES = Number(process.env["DROVER_MODEL_HISTORIES"] ?? 3_000);
/** Every mistake below is met within 4,000. */
const HISTORIES_WITH_MISTAKE = 10_000;
const PATIENCE = HISTORIES * 20;

/** The first history that ends wrong, with its seed. */
function explore(histories: number, variant: Variant, mistakes: Mistakes): string | null {
  for (let seed = 1; seed <= histories; seed++) {
    const broken = runHistory(seed, variant, mistakes);
    if (broken !== null) return `seed ${seed}: ${broken}`;
  }
  return null;
}

describe("the protocol", () => {
  it("I1 I2 I3: both sides are equal in the end, and the fence never goes back", () => {
    expect(explore(HISTORIES, {}, {})).toBeNull();
  }, PATIENCE);

  it("I1 I2 I3: also when a batch is written in many transactions, half applied and cut anew", () => {
    expect(explore(HISTORIES, { split: true }, {})).toBeNull();
  }, PATIENCE);

  it("I1 I2 I3: also when Redis comes back with older snapshots again and again", () => {
    expect(explore(HISTORIES, { restores: true }, {})).toBeNull();
  }, PATIENCE);
});

describe("planted mistakes that the exploration must find", () => {
  const mistakes: [string, Mistakes, Variant?][] = [
    ["I1: a chunk is committed although the fence moved since it was read (2c)", { chunkIgnoresFence: true }],
    ["I1: a chunk is read before the reader has executed what the fence holds (2a)", { readsTooEarly: true }],
    ["I1: a chunk is copied between two parts of one transaction", { chunksBetweenParts: true }],
    ["I2: the start position is the binlog's end instead of gtid_executed", { startsAtBinlogHead: true, readsTooEarly: true }],
    ["I2: lanes by key without a barrier between batches", { lanesWithoutBarrier: true }],
    ["I2: replaces before deletes, under a case-insensitive key", { replacesFirst: true }],
    ["I2: the tail hands on rows of a table that is still to be created", { followsPending: true }],
    ["I3: a table that started over is recorded without a new epoch", { startWithoutEpoch: true }],
    ["I3: the tail reads the tables before the fence's epoch", { tablesBeforeFence: true }],
    ["I3: a batch is applied without a look at where it begins", { ignoresFrom: true }],
    ["I3: a chain that begins anew keeps the epoch of the old one", { newChainKeepsEpoch: true }],
    ["I3: a chain goes on when Redis has come back with an older snapshot", { trustsSnapshots: true }, { restores: true }],
    ["I3: a migration that was removed and started again begins with the same fence", { restartKeepsEpoch: true }],
    ["I3: a batch is written in several transactions without a claim", { splitWithoutClaim: true }, { split: true }],
  ];
  it.each(mistakes)("%s", (_name, planted, variant = {}) => {
    expect(explore(HISTORIES_WITH_MISTAKE, variant, planted)).not.toBeNull();
  }, 60_000);
});
