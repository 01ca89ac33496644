/** Step 4 of the protocol: the next batch in order, under the fence's exclusive lock (I2, I3). */
import type { BatchInfo } from "./chain.js";
import type { NetEffect } from "./net-effect.js";
import type { Fence } from "./target.js";
import type { Job, World } from "./world.js";

const LEASE = 20;

export function* applier(world: World): Job {
  const { target, chain, variant } = world;
  for (let turn = 0; turn < LEASE; turn++) {
    const known = target.fence;
    yield;
    const head = chain.head();
    yield;
    if (head === undefined) continue;
    if (head.epoch !== known.epoch || head.seq > known.seq + 1) yield* voidChain(world);
    else if (head.seq <= known.seq) chain.drop(head);
    else {
      const payload = chain.payload(head);
      if (payload === undefined) return;
      yield;
      const applied = variant.split === true ? yield* applySplit(world, head, payload) : applyWhole(world, head, payload);
      yield;
      if (applied) chain.drop(head);
      else yield* voidChain(world);
    }
  }
}

function applyWhole({ target, mistakes }: World, head: BatchInfo, payload: NetEffect): boolean {
  if (!continues(head, target.fence) && mistakes.ignoresFrom !== true) return false;
  target.apply(payload, mistakes.replacesFirst === true);
  target.moveFence({ ...target.fence, seq: head.seq, position: head.to, partial: head.partial });
  return true;
}

/**
 * Row by row in any order, each checked by itself. A crash leaves rows ahead of the fence; the next application begins at the
 * fence and heals them, also when the batch was cut anew. Whoever wrote before, and chunk reads under way, are kept off
 * by the claim.
 */
function* applySplit({ target, random, mistakes }: World, head: BatchInfo, payload: NetEffect): Generator<void, boolean, void> {
  if (!continues(head, target.fence)) return false;
  const claimed = mistakes.splitWithoutClaim === true ? target.fence : target.claimFence();
  const held = () => continues(head, target.fence) && target.fence.claim === claimed.claim;
  for (const key of random.shuffled(payload.deletes)) {
    yield;
    if (!held()) return false;
    target.delete(key);
  }
  for (const row of random.shuffled(payload.puts)) {
    yield;
    if (!held()) return false;
    target.replace(row);
  }
  yield;
  if (!held()) return false;
  target.moveFence({ ...target.fence, seq: head.seq, position: head.to, partial: head.partial });
  return true;
}

function continues(batch: BatchInfo, fence: Fence): boolean {
  return batch.epoch === fence.epoch && batch.seq === fence.seq + 1 && batch.from === fence.position;
}

/** The chain does not fit the fence: the tail begins a new one there. */
function* voidChain({ target, chain }: World): Generator<void, void, void> {
  const { fence } = target;
  yield;
  const head = chain.head();
  if (head === undefined) return;
  // somebody else may have been at work
  if (head.epoch === fence.epoch && (head.seq <= fence.seq || continues(head, fence))) return;
  yield;
  chain.clear(head);
}
