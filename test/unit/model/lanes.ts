/** A planted mistake: batches applied by two lanes, each taking the rows of its keys, each at its own pace. */
import { fold } from "./source.js";
import type { Job, World } from "./world.js";

export function* lanesWithoutBarrier(world: World): Job {
  const { chain, target, random } = world;
  const batches = [];
  for (let head = chain.head(); head !== undefined; head = chain.head()) {
    const { deletes, puts } = chain.payload(head) ?? { deletes: [], puts: [] };
    batches.push({ head, deletes, puts });
    chain.drop(head);
  }
  const lane = (key: string) => fold(key).charCodeAt(0) % 2;
  const applied = [0, 0];
  while (Math.min(...applied) < batches.length) {
    const mine = random.below(2);
    const batch = batches[applied[mine] as number];
    if (batch === undefined) continue;
    target.apply({ deletes: batch.deletes.filter((key) => lane(key) === mine), puts: batch.puts.filter((row) => lane(row.key) === mine) }, false);
    applied[mine] = (applied[mine] as number) + 1;
  }
  const last = batches.at(-1)?.head;
  if (last !== undefined) target.moveFence({ ...target.fence, seq: last.seq, position: last.to, partial: false });
  yield;
}
