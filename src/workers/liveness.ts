/** Which workers are alive: a heartbeat in Redis per process, and the observation of those that have none. */
import type { Redis } from "ioredis";

/** Pace of a process's own heartbeat, milliseconds. */
const HEARTBEAT = 3_000;
/** How long a heartbeat lasts, milliseconds: a few may be missed. */
const EXPIRY = 12_000;
/** A silence that nobody looked at for this long is no observation any more, milliseconds. */
const FORGOTTEN = 60_000;

export class Liveness {
  private readonly redis: Redis;
  private readonly prefix: string;
  private readonly worker: string;
  private readonly timer: NodeJS.Timeout;
  /** When each silent worker was first and last found to be silent. */
  private readonly silences = new Map<string, { first: number; last: number }>();

  constructor(redis: Redis, prefix: string, worker: string) {
    this.redis = redis;
    this.prefix = prefix;
    this.worker = worker;
    this.timer = setInterval(() => void this.beat(), HEARTBEAT);
    this.timer.unref();
    void this.beat();
  }

  /**
   * Reads the heartbeats. A worker counts as dead when it was silent at two looks at least a heartbeat apart: right after
   * Redis was emptied nobody has a heartbeat, and nobody is dead.
   */
  async look(workers: readonly string[]): Promise<(worker: string) => boolean> {
    const names = [...new Set(workers)];
    const beats = names.length === 0 ? [] : await this.redis.mget(names.map((name) => this.key(name)));
    const now = Date.now();
    for (const [name, { last }] of this.silences) if (now - last > FORGOTTEN) this.silences.delete(name);
    for (const [i, name] of names.entries()) {
      if (beats[i] !== null) this.silences.delete(name);
      else this.silences.set(name, { first: this.silences.get(name)?.first ?? now, last: now });
    }
    return (worker) => worker !== this.worker && now - (this.silences.get(worker)?.first ?? now) > HEARTBEAT + 1_000;
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.redis.del(this.key(this.worker)).catch(() => undefined);
  }

  private async beat(): Promise<void> {
    await this.redis.set(this.key(this.worker), String(Date.now()), "PX", EXPIRY).catch(() => undefined);
  }

  private key(worker: string): string {
    return `${this.prefix}:worker:${worker}`;
  }
}
