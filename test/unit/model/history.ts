/** One random history: writers, workers, crashes, zombies, faults; then rest, and the comparison of both sides. */
import { applier } from "./applier.js";
import { Chain } from "./chain.js";
import { copyChunk } from "./chunk-copier.js";
import { lanesWithoutBarrier } from "./lanes.js";
import { createTable, planTable, restartTable, startMigration } from "./planner.js";
import { Random } from "./random.js";
import { Source } from "./source.js";
import { tail } from "./tail.js";
import { Broken, Target } from "./target.js";
import type { Job, Mistakes, Variant, World } from "./world.js";

const MAX_STEPS = 400;
const MAX_TRANSACTIONS = 12;
/** How often a worker falls asleep before a step, and for how many turns at most. */
const ZOMBIES = 0.04;
const MAX_SLEEP = 150;
/** How often a job is started although it runs already. */
const DOUBLES = 0.02;
/** Far more than a history without writers needs to come to rest. */
const REST_STEPS = 20_000;

/** @returns what went wrong; null when both sides were equal in the end */
export function runHistory(seed: number, variant: Variant = {}, mistakes: Mistakes = {}): string | null {
  const history = new History(seed, variant, mistakes);
  try {
    history.live();
    history.comeToRest();
    return history.difference();
  } catch (error) {
    if (error instanceof Broken) return error.message;
    throw error;
  }
}

interface Running {
  /** What the queue would call it: at most one of a name runs, unless its worker is a zombie. */
  name: string;
  job: Job;
  wakesAt: number;
}

class History {
  private readonly random: Random;
  private readonly world: World;
  private running: Running[] = [];
  private turn = 0;
  /** No new zombies and doubles: two appliers that claim a batch again and again would keep each other from it. */
  private calm = false;
  /** How eagerly chunks are copied; a copy that is over early has met no event. */
  private copyRate: number;

  constructor(seed: number, variant: Variant, mistakes: Mistakes) {
    this.random = new Random(seed);
    this.world = { source: new Source(this.random), target: new Target(), chain: new Chain(), random: this.random, variant, mistakes };
    this.copyRate = this.random.next() ** 2;
    startMigration(this.world);
  }

  live(): void {
    const { random, world } = this;
    const { source, target, chain, mistakes, variant } = world;
    // Few transactions leave a wrong row wrong; many faults, or all kinds of them, seldom get far.
    const steps = 50 + random.below(MAX_STEPS);
    const transactions = 1 + random.below(MAX_TRANSACTIONS);
    const writes = 0.1 * random.next();
    const shows = 0.1 * random.next();
    const faultRate = (variant.restores === true ? 0.15 : 0.02) * random.next();
    const restoring = [() => chain.save(), () => chain.restore()];
    const faults = variant.restores === true ? restoring : [() => chain.clear(), () => random.pick(restoring)(), () => void target.bumpEpoch(), () => restartTable(world), () => startMigration(world)].filter(
      () => mistakes.lanesWithoutBarrier !== true && random.chance(0.3),
    );
    for (let i = 0; i < steps; i++) {
      const dice = random.next();
      if (dice < writes && source.binlog.length < transactions) source.write();
      else if (dice < writes + shows) source.executed = Math.min(source.executed + 1, source.binlog.length);
      else if (dice < writes + 1.5 * shows) source.replicaExecuted = Math.min(source.replicaExecuted + 1, source.executed);
      else if (dice > 1 - faultRate && faults.length > 0) random.pick(faults)();
      else if (dice > 0.97) this.crashOne();
      else if (dice > 0.75) this.startOne();
      else this.stepOne();
    }
  }

  /** No more writes and faults, but zombies wake; until everything is copied and applied, and nobody is left. */
  comeToRest(): void {
    const { source, target } = this.world;
    source.executed = source.replicaExecuted = source.binlog.length;
    this.copyRate = 1;
    this.calm = true;
    for (let i = 0; i < REST_STEPS; i++) {
      if (!target.copied || target.fence.position < source.binlog.length) this.startOne();
      else if (this.running.length === 0) return;
      this.stepOne();
    }
    throw new Broken(`no rest: ${JSON.stringify({ fence: target.fence, chunks: target.chunks, binlog: source.binlog.length })}`);
  }

  difference(): string | null {
    const { source, target } = this.world;
    return target.equals(source.newest) ? null : `source ${JSON.stringify(source.newest)}, target ${JSON.stringify(target.content)}`;
  }

  private startOne(): void {
    const { random } = this;
    const awake = new Set(this.running.filter((r) => r.wakesAt <= this.turn).map((r) => r.name));
    const due = Object.entries(this.jobs()).filter(([name]) => !awake.has(name) || (!this.calm && random.chance(DOUBLES)));
    if (due.length === 0) return;
    const [name, start] = random.pick(due);
    this.running.push({ name, job: start(this.world), wakesAt: this.turn });
  }

  /** The jobs that the state asks for, by name. */
  private jobs(): Record<string, (world: World) => Job> {
    const { target, mistakes } = this.world;
    const jobs: Record<string, (world: World) => Job> = { tail };
    if (target.table === "pending") jobs["create"] = createTable;
    if (target.table === "created") jobs["plan"] = planTable;
    for (const [i, chunk] of target.chunks.entries()) if (!chunk.done && this.random.chance(this.copyRate)) jobs[`chunk ${i}`] = (world) => copyChunk(world, i);
    // Applying may begin at any time: that is what draining a full backlog does during the copy.
    if (mistakes.lanesWithoutBarrier !== true) jobs["apply"] = applier;
    else if (target.copied) jobs["apply"] = lanesWithoutBarrier;
    return jobs;
  }

  private stepOne(): void {
    this.turn += 1;
    const awake = this.running.filter((r) => r.wakesAt <= this.turn);
    if (awake.length === 0) return;
    const chosen = this.random.pick(awake);
    if (chosen.job.next().done === true) this.running = this.running.filter((r) => r !== chosen);
    else if (!this.calm && this.random.chance(ZOMBIES)) chosen.wakesAt = this.turn + this.random.below(MAX_SLEEP);
  }

  private crashOne(): void {
    if (this.running.length === 0) return;
    const [crashed] = this.running.splice(this.random.below(this.running.length), 1);
    // Its sessions end, and with them their locks.
    crashed?.job.return();
  }
}
