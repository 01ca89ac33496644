/**
 * What one integration test owns on the shared servers:
 *
 *     await using ctx = await testContext();
 *     await ctx.source.query(`CREATE TABLE ${ctx.schema}.t (id INT PRIMARY KEY)`);
 *     const config = loadConfig(ctx.env);
 *
 * All names are random, so tests run side by side. At its end everything it made is dropped, and the test fails when the
 * code under test left a connection or a Redis key behind.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { Redis } from "ioredis";
import { inject } from "vitest";

import { QUEUE_NAMES } from "../../src/shared/queues.js";
import { TestMysql } from "./mysql.js";

/** A server notices a closed connection a moment after the client closed it. */
const leakPatienceMs = 3_000;

export interface TestContextOptions {
  /** Redis keys under the test's prefix that may be left; default: those of BullMQ's queues. */
  allowedKey?: (key: string, prefix: string) => boolean;
  /** False: the test looks for leaks itself, or wants to leave some. */
  checkLeaks?: boolean;
}

export async function testContext(options: TestContextOptions = {}): Promise<TestContext> {
  const ctx = new TestContext(options);
  try {
    await Promise.all([ctx.source.open(), ctx.target.open()]);
    await ctx.source.query(`CREATE DATABASE ${ctx.schema}`);
    return ctx;
  } catch (error) {
    await ctx.close();
    throw error;
  }
}

export class TestContext implements AsyncDisposable {
  /** What all of the test's names begin with. */
  readonly id = `dt_${randomBytes(5).toString("hex")}`;
  /** Exists on the source, empty; on the target it is Drover's to make. Other schemas: begin their names with it. */
  readonly schema = `${this.id}_db`;
  readonly stateSchema = `${this.id}_state`;
  readonly prefix = this.id;
  readonly source: TestMysql;
  readonly target: TestMysql;
  readonly redisUrl: string;
  readonly redis: Redis;
  readonly #options: Required<TestContextOptions>;

  constructor(options: TestContextOptions) {
    const servers = inject("servers");
    this.source = new TestMysql(servers.source, this.id);
    this.target = new TestMysql(servers.target, this.id);
    this.redisUrl = servers.redis;
    this.redis = new Redis(servers.redis, { lazyConnect: true });
    // without a listener ioredis prints every lost connection
    this.redis.on("error", () => undefined);
    this.#options = { allowedKey: isQueueKey, checkLeaks: true, ...options };
  }

  /** Settings for `loadConfig` or for a child process; the connections are named SRC and DST. */
  get env(): Record<string, string> {
    return {
      DROVER_REDIS_URL: this.redisUrl,
      DROVER_PREFIX: this.prefix,
      DROVER_STATE_SCHEMA: this.stateSchema,
      DROVER_CONNECTION_SRC: this.source.url,
      DROVER_CONNECTION_DST: this.target.url,
    };
  }

  /** @throws when the code under test has a connection open, or left a key that is not allowed. */
  async expectNoLeaks(): Promise<void> {
    const deadline = Date.now() + leakPatienceMs;
    for (;;) {
      const leaks = await this.#leaks();
      if (leaks.length === 0) return;
      if (Date.now() > deadline) throw new Error(`the test left behind:\n  ${leaks.join("\n  ")}`);
      await sleep(50);
    }
  }

  async #leaks(): Promise<string[]> {
    const leaks: string[] = [];
    for (const side of ["source", "target"] as const) {
      for (const { text } of await this[side].sessions()) leaks.push(`connection to the ${side}: ${text}`);
    }
    for (const name of await this.#redisClients()) leaks.push(`connection to Redis: ${name}`);
    for (const key of await this.#keys()) {
      if (!this.#options.allowedKey(key, this.prefix)) leaks.push(`Redis key: ${key}`);
    }
    return leaks;
  }

  /** BullMQ's workers name their connections by prefix and queue. */
  async #redisClients(): Promise<string[]> {
    const list = String(await this.redis.client("LIST"));
    return [...list.matchAll(/\bname=(\S+)/g)].map((match) => match[1] ?? "").filter((name) => name.startsWith(this.prefix));
  }

  async #keys(): Promise<string[]> {
    const keys: string[] = [];
    for await (const found of this.redis.scanStream({ match: `${this.prefix}*`, count: 1000 })) keys.push(...(found as string[]));
    return keys;
  }

  /** Drops all that the test made. */
  async close(): Promise<void> {
    try {
      const keys = await this.#keys();
      if (keys.length > 0) await this.redis.unlink(keys);
      await Promise.all([this.source.clean(this.id), this.target.clean(this.id)]);
    } finally {
      this.redis.disconnect();
      await Promise.all([this.source.close(), this.target.close()]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      if (this.#options.checkLeaks) await this.expectNoLeaks();
    } finally {
      await this.close();
    }
  }
}

export function isQueueKey(key: string, prefix: string): boolean {
  return QUEUE_NAMES.some((queue) => key.startsWith(`${prefix}:${queue}:`));
}
