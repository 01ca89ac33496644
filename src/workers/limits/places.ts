/**
 * The places of one limit in Redis: a sorted set of tokens, each with the time when it expires, by Redis' clock. Every worker
 * renews its own; those of a dead worker expire. Nothing depends on it but the servers' load: a token says nothing
 * about who may write what.
 */
import type { Redis } from "ioredis";

/** How long a token lives without being renewed, in milliseconds. */
const LEASE = 10_000;
/** Pace of the renewal. */
export const RENEWAL = 1_000;
/**
 * After Redis was emptied, and before its first token, nothing is given out for this long: by then every worker has
 * renewed, and so put back, what it holds.
 */
const GRACE = 1_500;

/** What a token begins with that stays for long: of these there may be only so many. */
export const STANDING = "s.";

/**
 * KEYS: the set, the mark of its beginning. ARGV: the most tokens for this use, the most standing ones when it is about those (else ''),
 * lease, grace, then the tokens held, then those wanted after an empty argument. Puts back what is held, gives as many
 * of the wanted as there is room for. Returns how many.
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit, standing, lease, grace = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local i = 5
while ARGV[i] ~= '' do
  redis.call('ZADD', KEYS[1], now + lease, ARGV[i])
  i = i + 1
end
local begun = redis.call('GET', KEYS[2])
redis.call('SET', KEYS[2], begun or now, 'PX', lease)
local given = 0
if now - tonumber(begun or now) >= grace then
  local room = limit - redis.call('ZCARD', KEYS[1])
  if standing then
    for _, token in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
      if string.sub(token, 1, 2) == 's.' then standing = standing - 1 end
    end
    room = math.min(room, standing)
  end
  while given < room and ARGV[i + 1 + given] do
    redis.call('ZADD', KEYS[1], now + lease, ARGV[i + 1 + given])
    given = given + 1
  end
end
redis.call('PEXPIRE', KEYS[1], lease)
return given`;

export interface MostTokens {
  all: number;
  /** Only when standing tokens are asked for. */
  standing?: number;
}

export class Places {
  private readonly redis: Redis;
  private readonly key: string;

  constructor(redis: Redis, key: string) {
    this.redis = redis;
    this.key = key;
  }

  /** @returns how many of `wanted` were given, in order */
  async take(most: MostTokens, held: readonly string[], wanted: readonly string[]): Promise<number> {
    return (await this.redis.eval(TAKE, 2, this.key, `${this.key}:begun`, most.all, most.standing ?? "", LEASE, GRACE, ...held, "", ...wanted)) as number;
  }

  async giveBack(token: string): Promise<void> {
    await this.redis.zrem(this.key, token);
  }
}
