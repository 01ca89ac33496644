/**
 * The backlog of one migration in Redis: a chain of batches, each beginning where the one before ended.
 *
 * Keys (`<prefix>:backlog:<migration>:…`): `chain` a list of JSON infos, `tip` the last info ever appended, `bytes`
 * the sum of payload sizes, `bell` a list that wakes the applier, and one `batch:<chain>:<seq>` per payload (binary).
 *
 * The chain is its own fencing: `append` succeeds only where the batch begins at the tip, so of two tails (one a
 * zombie) only one can add, and it does not matter which. When Redis was emptied the tip is gone, every append fails,
 * and the tail starts again from the fence (promise 3).
 *
 * A chain does not outlive the server's run in which it began. A Redis that was started or promoted may have come back with
 * an older tip, from which the binlog would be cut a second time under the same names, while an applier still holds a batch of the first
 * cut: rows between the two cuts would be lost (test/unit/model).
 */
import { randomBytes } from "node:crypto";
import type { Redis } from "ioredis";
import type { BatchInfo } from "./batch.js";

/** Lua: the server's run. Its id changes with each start, that of its replication history with each promotion. */
const RUN = `
local function run()
  local info = redis.call('INFO', 'server') .. redis.call('INFO', 'replication')
  return (string.match(info, 'run_id:(%w+)') or '') .. ':' .. (string.match(info, 'master_replid:(%w+)') or '')
end
`;

/**
 * KEYS chain, tip, bytes, bell, payload. ARGV expected tip (JSON), info, payload, next tip, the chain's run.
 * Returns the backlog's bytes after, or -1 when the tip is another one, or the server's run.
 */
const APPEND = `
${RUN}
if run() ~= ARGV[5] then return -1 end
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
 * KEYS chain, tip, bytes, bell. ARGV: what payload keys begin with; the new tip, or nothing; the head that must still be
 * there, or nothing. Removes every key and sets the new tip. Returns 0 when the head is another one.
 */
const BEGIN_ANEW = `
if ARGV[3] ~= '' and redis.call('LINDEX', KEYS[1], 0) ~= ARGV[3] then return 0 end
for _, raw in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local info = cjson.decode(raw)
  redis.call('DEL', ARGV[1] .. info.chain .. ':' .. string.format('%.0f', info.seq))
end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
if ARGV[2] ~= '' then redis.call('SET', KEYS[2], ARGV[2]) end
return 1
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
  /**
   * Random, given when a chain begins. A zombie's tip may equal the new chain's in all else, as in the middle of a large
   * transaction, and must not be taken for it (test/unit/model).
   */
  chain: string;
  /** The server's run in which the chain began. */
  run: string;
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

  /** The server's run, to be compared with a tip's: read it after the tip, for a tip that comes back is of an earlier run. */
  async run(): Promise<string> {
    return (await this.redis.eval(`${RUN} return run()`, 0)) as string;
  }

  /** Whether the chain ends there: it is void when the applier, or Redis, has thrown it away. */
  async endsAt(tip: Tip): Promise<boolean> {
    return (await this.redis.get(this.key("tip"))) === tipText(tip);
  }

  /** Empties the chain and begins a new one at the fence. */
  async reset(at: Omit<Tip, "chain" | "run">): Promise<Tip> {
    const tip = { ...at, chain: randomBytes(8).toString("hex"), run: await this.run() };
    await this.beginAnew(tipText(tip), "");
    return tip;
  }

  /** Removes every key; with `head` only while that is the chain's head. */
  async clear(head?: ChainHead): Promise<void> {
    await this.beginAnew("", head?.raw ?? "");
  }

  /**
   * Appends a batch that begins at `tip`.
   * @returns the backlog's bytes after it; null when the tip is another one, so that this tail is not the one any more, or when the server
   *   was started or promoted since the chain began
   */
  async append(tip: Tip, info: BatchInfo, payload: Buffer): Promise<number | null> {
    const next = tipText({ chain: info.chain, run: tip.run, epoch: info.epoch, seq: info.seq, position: info.to, barrier: info.barrier === true });
    const total = (await this.redis.eval(APPEND, 5, this.key("chain"), this.key("tip"), this.key("bytes"), this.key("bell"), this.payload(info),
      tipText(tip), JSON.stringify(info), payload, next, tip.run)) as number;
    return total < 0 ? null : total;
  }

  async head(): Promise<ChainHead | null> {
    const raw = await this.redis.lindex(this.key("chain"), 0);
    return raw === null ? null : { info: JSON.parse(raw) as BatchInfo, raw };
  }

  /** Null when the payload is gone: Redis lost a part of its keys, or the batch was applied meanwhile. */
  async payloadOf(info: BatchInfo): Promise<Buffer | null> {
    return await this.redis.getBuffer(this.payload(info));
  }

  /** Removes the head after it was applied; a no-op when it is another one by now. */
  async drop(head: ChainHead): Promise<void> {
    await this.redis.eval(DROP, 3, this.key("chain"), this.key("bytes"), this.payload(head.info), head.raw);
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

  private async beginAnew(tip: string, head: string): Promise<void> {
    await this.redis.eval(BEGIN_ANEW, 4, this.key("chain"), this.key("tip"), this.key("bytes"), this.key("bell"), this.key("batch:"), tip, head);
  }

  /** By chain and place: a payload that is read is that of the batch whose info was read, or gone. */
  private payload(info: BatchInfo): string {
    return this.key(`batch:${info.chain}:${info.seq}`);
  }
}

function tipText(tip: Tip): string {
  return JSON.stringify({ chain: tip.chain, run: tip.run, epoch: tip.epoch, seq: tip.seq, position: tip.position, ...(tip.barrier === true ? { barrier: true } : {}) });
}
