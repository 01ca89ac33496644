/** What is being worked on at the moment of a fault, and by which worker: the active jobs of the queue that the phase is about. */
import type { Job } from "bullmq";
import { openQueues, openRedis } from "../../src/shared/queues.js";
import { setTimeout as sleep } from "node:timers/promises";
import type { FaultName } from "./faults.js";
import type { PhaseName } from "./phases.js";
import type { Rig, RigWorker } from "./rig.js";

export interface Held {
  /** The worker that a fault of one worker strikes. */
  victim: RigWorker;
  /** The chunks that are under way: the victim's, or everybody's when a server is struck. Of the copy or the diff, by the phase. */
  chunks: HeldChunk[];
}

export interface HeldChunk {
  table: number;
  number: number;
  /** The table's, which counts how often it started over. */
  generation: number;
}

const OF_ONE_WORKER: ReadonlySet<FaultName> = new Set(["kill9", "sigstop", "sigterm", "cut-source", "cut-target", "cut-redis"]);
const PATIENCE = 5_000;

/** Waits a little for somebody to work; any worker is the victim when nobody does. */
export async function lookWhoWorks(fault: FaultName, phase: PhaseName, seed: number, rig: Rig): Promise<Held> {
  const redis = openRedis(rig.redis.url);
  redis.on("error", () => undefined);
  const queues = openQueues(redis, rig.prefix);
  try {
    for (const deadline = Date.now() + PATIENCE; ; await sleep(5)) {
      const active = await queues[queueOf(fault, phase, seed)].getJobs(["active"], 0, 99);
      const owned = active.flatMap((job) => ownedBy(rig, job));
      const mine = owned.filter((each) => each.worker === owned[0]?.worker);
      const [first] = mine;
      if (first === undefined && Date.now() < deadline) continue;
      const victim = first?.worker ?? rig.workers[0];
      if (victim === undefined) throw new Error("there is no worker");
      const tables = await rig.state<{ number: number; generation: number }>("SELECT number, generation FROM @state.tables").catch(() => []);
      const generations = new Map(tables.map((table) => [table.number, table.generation]));
      const held = (OF_ONE_WORKER.has(fault) ? mine : owned).flatMap((each) => each.chunk ?? []);
      return { victim, chunks: held.map((chunk) => ({ ...chunk, generation: generations.get(chunk.table) ?? 0 })) };
    }
  } finally {
    await Promise.all(Object.values(queues).map((queue) => queue.close()));
    redis.disconnect();
  }
}

/** In the follow the source is read by the tail, the target written by the apply: what may strike either strikes them in turn, by the seed. */
function queueOf(fault: FaultName, phase: PhaseName, seed: number): "copy" | "diff" | "tail" | "apply" {
  if (phase === "diff") return "diff";
  if (phase === "planning" || phase === "copying") return "copy";
  if (fault === "cut-source") return "tail";
  return fault === "cut-target" || seed % 2 === 0 ? "apply" : "tail";
}

/** A worker's name holds its process id. */
function ownedBy(rig: Rig, job: Job | undefined): { worker: RigWorker; chunk: { table: number; number: number } | null }[] {
  const worker = rig.workers.find((each) => job?.processedBy?.includes(`-${each.process.pid}-`));
  if (job === undefined || worker === undefined) return [];
  const { table, chunk } = job.data as { table?: number; chunk?: number };
  return [{ worker, chunk: table === undefined || chunk === undefined ? null : { table, number: chunk } }];
}
