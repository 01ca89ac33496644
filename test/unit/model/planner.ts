/** Step 1 of the protocol: the fence, the table's start position, its chunks; and the table that starts over. */
import { fold } from "./source.js";
import type { Job, World } from "./world.js";

/** Upper ends of chunks, where a table is large enough. */
const BOUNDS = ["b", "d"];

/** A migration begins, or begins anew after it was removed: the state of an earlier one is gone. */
export function startMigration({ source, target, mistakes }: World): void {
  const position = mistakes.startsAtBinlogHead === true ? source.binlog.length : source.executed;
  // The epoch never repeats: a worker of the removed migration may still hold a chunk's rows.
  const epoch = mistakes.restartKeepsEpoch === true ? 1 : target.fence.epoch + 1;
  target.startAnew({ epoch, seq: 0, position, partial: false, claim: 0 });
}

/** A table that starts over (its definition changed). Whatever is under way becomes void. */
export function restartTable({ target }: World): void {
  target.bumpEpoch();
  target.voidTable();
}

/** Creates a table that is pending. DDL cannot check the fence: one session at a time runs it, under a lock of the server. */
export function* createTable({ source, target, mistakes }: World): Job {
  if (target.ddlLocked) return;
  target.ddlLocked = true;
  try {
    yield;
    while (target.table === "pending") {
      const start = source.executed;
      yield;
      target.recreateTable();
      yield;
      // Recorded in one transaction, unless the fence has passed the start: what was applied in between went to the old table.
      if (target.table !== "pending" || start < target.fence.position) continue;
      target.table = "created";
      target.tableStart = start;
      // Batches that were cut before the start position was known hold none of the table's rows, or too many.
      if (mistakes.startWithoutEpoch !== true) target.bumpEpoch();
    }
  } finally {
    target.ddlLocked = false;
  }
}

/** Cuts the table into chunks up to its largest key; later keys come by the binlog. */
export function* planTable({ source, target, random, mistakes }: World): Job {
  const { fence, tableStart } = target;
  if (target.table !== "created") return;
  yield;
  const executed = random.chance(0.3) ? () => source.replicaExecuted : () => source.executed;
  while (executed() < Math.max(fence.position, tableStart) && mistakes.readsTooEarly !== true) yield;
  const last = source.rowsAt(executed()).map((row) => fold(row.key)).sort().at(-1);
  yield;
  // one transaction, in which the table must be the one that was planned
  if (target.table !== "created" || target.tableStart !== tableStart) return;
  const uppers = last === undefined ? [] : [...BOUNDS.filter((bound) => bound < last), last];
  target.chunks = uppers.map((upper, i) => ({ lower: uppers[i - 1] ?? "", upper, done: false }));
  target.table = "planned";
}
