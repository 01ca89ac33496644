/**
 * The backlog of one migration in Redis: a chain of batches, each beginning where the one before ended.
 *
 * Keys (`<prefix>:backlog:<migration>:…`): `chain` a list of JSON infos, `tip` the last info ever appended, `bytes`
 * the sum of payload sizes, `bell` a list that wakes the applier, and one `batch:<seq>` per payload (binary).
 *
 * The chain is its own fencing: `append` succeeds only where the batch begins at the tip, so of two tails (one a
 * zombie) only one can add, and it does not matter which. When Redis was emptied the tip is gone, every append fails,
 * and the tail starts again from the fence (promise 3).
 */
import type { Redis } from "ioredis";
import { DroverError } from "../errors.js";
import type { BatchInfo } from "./batch.js";

/**
 * KEYS chain, tip, bytes, bell, payload. ARGV expected tip (JSON), info, payload, next tip.
 * Returns the backlog's bytes after, or -1 when the tip is another one.
 */
const APPEND = `
local tip = redis.call('GET', KEYS[2])
if not tip or tip ~= ARGV[1] then return -1 end
redis.call('SET', KEYS[5], ARGV[3])
redis.call('RPUSH', KEYS[1], ARGV[2])
redis.call('SET', KEYS[2], ARGV[4])
local total = redis.call('INCRBY', KEYS[3], string.len(ARGV[3]))
redis.call('DEL', KEYS[4])
redis.call('RPUSH', KEYS[4], '1')
return total
`;

/**
 * KEYS chain, bytes, payload. ARGV the head's info. Removes the head if it is still that one.
 * Returns 1 when removed.
 */
const DROP = `
if redis.call('LINDEX', KEYS[1], 0) ~= ARGV[1] then return 0 end
redis.call('LPOP', KEYS[1])
local size = redis.call('STRLEN', KEYS[3])
redis.call('DEL', KEYS[3])
redis.call('DECRBY', KEYS[2], size)
return 1
`;

export interface Tip {
  /** The fence's epoch: pause, resume and a table that starts over void the chain. */
  epoch: number;
  seq: number;
  position: string;
  /** The last batch is a statement: nothing may follow it before it was executed. */
  barrier?: boolean;
}

export interface ChainHead {
  info: BatchInfo;
  /** The info's text as it stands in the list; `drop` goes by it. */
  raw: string;
}

export interface BacklogSize {
  batches: number;
  bytes: number;
}

export class BacklogChain {
  private readonly redis: Redis;
  private readonly base: string;

  constructor(redis: Redis, prefix: string, migration: string) {
    this.redis = redis;
    this.base = `${prefix}:backlog:${migration}`;
  }

  /** Where the next batch must begin; null when the chain is not begun (or Redis was emptied). */
  async tip(): Promise<Tip | null> {
    const raw = await this.redis.get(this.key("tip"));
    return raw === null ? null : (JSON.parse(raw) as Tip);
  }

  /** Empties the chain and begins it at the fence. */
  async reset(at: Tip): Promise<void> {
    await this.clear();
    await this.redis.set(this.key("tip"), tipText(at));
  }

  /** Removes every key. */
  async clear(): Promise<void> {
    const infos = await this.redis.lrange(this.key("chain"), 0, -1);
    const payloads = infos.map((raw) => this.payload((JSON.parse(raw) as BatchInfo).seq));
    // The tip goes first: from then on no append of an older tail succeeds.
    await this.redis.del(this.key("tip"));
    for (let i = 0; i < payloads.length; i += 500) await this.redis.del(...payloads.slice(i, i + 500));
    await this.redis.del(this.key("chain"), this.key("bytes"), this.key("bell"));
  }

  /**
   * Appends a batch that begins at `tip`.
   * @returns the backlog's bytes after it; null when the tip is another one: this tail is not the one any more
   */
  async append(tip: Tip, info: BatchInfo, payload: Buffer): Promise<number | null> {
    const next = tipText({ epoch: info.epoch, seq: info.seq, position: info.to, barrier: info.barrier === true });
    const total = (await this.redis.eval(APPEND, 5, this.key("chain"), this.key("tip"), this.key("bytes"), this.key("bell"), this.payload(info.seq),
      tipText(tip), JSON.stringify(info), payload, next)) as number;
    return total < 0 ? null : total;
  }

  async head(): Promise<ChainHead | null> {
    const raw = await this.redis.lindex(this.key("chain"), 0);
    return raw === null ? null : { info: JSON.parse(raw) as BatchInfo, raw };
  }

  /** @throws DroverError REDIS_UNAVAILABLE when the payload is gone (Redis lost a part of its keys) */
  async payloadOf(info: BatchInfo): Promise<Buffer> {
    const bytes = await this.redis.getBuffer(this.payload(info.seq));
    if (bytes === null) throw new DroverError("REDIS_UNAVAILABLE", `the payload of batch ${info.seq} is not in Redis`);
    return bytes;
  }

  /** Removes the head after it was applied; a no-op when it is another one by now. */
  async drop(head: ChainHead): Promise<void> {
    await this.redis.eval(DROP, 3, this.key("chain"), this.key("bytes"), this.payload(head.info.seq), head.raw);
  }

  /**
   * Waits until a batch was appended, at most `seconds`.
   * @param blocking a connection of the caller's own: it is blocked meanwhile
   */
  async waitForBell(blocking: Redis, seconds: number): Promise<void> {
    await blocking.blpop(this.key("bell"), seconds);
  }

  async size(): Promise<BacklogSize> {
    const [batches, bytes] = await Promise.all([this.redis.llen(this.key("chain")), this.redis.get(this.key("bytes"))]);
    return { batches, bytes: Math.max(0, Number(bytes ?? 0)) };
  }

  private key(name: string): string {
    return `${this.base}:${name}`;
  }

  private payload(seq: number): string {
    return `${this.base}:batch:${seq}`;
  }
}

function tipText(tip: Tip): string {
  return JSON.stringify({ epoch: tip.epoch, seq: tip.seq, position: tip.position, ...(tip.barrier === true ? { barrier: true } : {}) });
}
