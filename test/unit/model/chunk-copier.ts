/** Step 2 of the protocol. I1: rows read at a time are committed only while the fence stands where it stood before. */
import { fold } from "./source.js";
import type { Job, World } from "./world.js";

export function* copyChunk({ source, target, random, mistakes }: World, number: number): Job {
  const { fence, tableStart } = target;
  if (target.chunks[number]?.done !== false) return;
  if (fence.partial && mistakes.chunksBetweenParts !== true) return;
  yield;

  // 2a: the reader has executed everything up to the fence
  const fromReplica = random.chance(0.3);
  const executed = () => (fromReplica ? source.replicaExecuted : source.executed);
  while (executed() < Math.max(fence.position, tableStart) && mistakes.readsTooEarly !== true) yield;

  // 2b: one SELECT
  const { lower, upper } = target.chunks[number] ?? { lower: "", upper: "" };
  const rows = source.rowsAt(executed()).filter((row) => fold(row.key) > lower && fold(row.key) <= upper);
  yield;

  // 2c: one transaction under the fence's shared lock
  const chunk = target.chunks[number];
  const moved = target.fence.seq !== fence.seq || target.fence.epoch !== fence.epoch || target.fence.claim !== fence.claim;
  if (chunk === undefined || chunk.done || (moved && mistakes.chunkIgnoresFence !== true)) return;
  for (const row of rows) target.replace(row);
  chunk.done = true;
}
