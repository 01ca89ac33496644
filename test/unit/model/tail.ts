/** Step 3 of the protocol: the binlog becomes a chain of batches. */
import type { BatchInfo, Tip } from "./chain.js";
import { NetEffectBuilder } from "./net-effect.js";
import type { Fence } from "./target.js";
import type { Job, World } from "./world.js";

/** Turns of a lease, after which the next tail goes on. */
const LEASE = 40;

export function* tail(world: World): Job {
  const { source, target, chain, random, mistakes } = world;
  const known = chain.tip;
  const batches = chain.length;
  yield;
  // After the tip: what an older snapshot says is of an earlier run.
  const { run } = chain;
  yield;
  const early = { tableStart: target.tableStart, table: target.table };
  if (mistakes.tablesBeforeFence === true) yield;
  const { fence } = target;
  yield;
  let tip: Tip;
  if (known !== null && (known.run === run || mistakes.trustsSnapshots === true) && fits(known, batches, fence)) tip = known;
  else tip = yield* newChain(world, fence, run);

  // The tables are read after the epoch is known: were they older, batches of a new epoch would be cut by old start positions.
  const { tableStart, table } = mistakes.tablesBeforeFence === true ? early : target;
  const builder = new NetEffectBuilder();
  const append = (to: number, partial: boolean): boolean => {
    const info: BatchInfo = { chain: tip.chain, epoch: tip.epoch, seq: tip.seq + 1, from: tip.position, to, partial };
    if (!chain.append(tip, info, builder.take(), mistakes.trustsSnapshots)) return false;
    tip = { chain: tip.chain, epoch: info.epoch, seq: info.seq, position: to, run: tip.run };
    return true;
  };
  let position = tip.position;
  for (let turn = 0; turn < LEASE; turn++) {
    yield;
    const transaction = source.binlog[position];
    if (transaction !== undefined) {
      for (const [i, change] of transaction.entries()) {
        // a table that is still to be created has no start position yet; its chunk reads will see all this
        if (position >= tableStart && (table !== "pending" || mistakes.followsPending === true)) builder.add(change);
        // a large transaction goes out in parts; only the last one moves the position
        if (i + 1 === transaction.length || !random.chance(0.3)) continue;
        if (!append(position, true)) return;
        yield;
      }
      position += 1;
    }
    const waiting = position > tip.position;
    if (waiting && (transaction === undefined || random.chance(0.5)) && !append(position, false)) return;
  }
}

/** Whether the chain begins at the fence or leads past it. */
function fits(tip: Tip, batches: number, fence: Fence): boolean {
  if (tip.epoch !== fence.epoch || tip.seq < fence.seq) return false;
  return batches > 0 ? tip.seq > fence.seq || tip.position === fence.position : tip.seq === fence.seq && tip.position === fence.position;
}

/** A new chain is a new epoch: whatever somebody still holds of the old one is void. */
function* newChain({ target, chain, mistakes }: World, known: Fence, run: number): Generator<void, Tip, void> {
  const { epoch, seq, position } = mistakes.newChainKeepsEpoch === true ? known : target.bumpEpoch();
  yield;
  return chain.beginAnew({ epoch, seq, position, run });
}
