/** What befalls the servers while the seeds run: an emptied Redis, killed sessions of ours, a target that is killed or restarted. */
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import mysql, { type RowDataPacket } from "mysql2/promise";
import type { MysqlServer, RedisServer } from "../servers/index.js";
import { Dice } from "./dice.js";

export interface TroublesOptions {
  source: MysqlServer;
  target: MysqlServer;
  redis: RedisServer;
  seed: number;
  /** Between two of them, on average (milliseconds); 0: there are none. */
  pause: number;
}

/** How long the target stays away (milliseconds). */
const OUTAGE = 4_000;

export class Troubles implements AsyncDisposable {
  private readonly options: TroublesOptions;
  private readonly dice: Dice;
  private readonly end = new AbortController();
  private readonly done: Promise<void>;
  private outage: Promise<void> = Promise.resolve();
  emptied = 0;
  sessions = 0;
  restarts = 0;

  constructor(options: TroublesOptions) {
    this.options = options;
    this.dice = new Dice(options.seed + 500_000);
    this.done = options.pause === 0 ? Promise.resolve() : this.strike();
  }

  /** Resolves when no server is away by our doing. */
  async calm(): Promise<void> {
    await this.outage;
  }

  private async strike(): Promise<void> {
    const { signal } = this.end;
    const { dice } = this;
    while (!signal.aborted) {
      await sleep(dice.below(this.options.pause * 2), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const kind = dice.below(100);
      const trouble = kind < 40 ? this.killSessions(dice.pick([this.options.source, this.options.target])) : kind < 70 ? this.emptyRedis() : (this.outage = this.restartTarget());
      await trouble.catch(() => undefined);
    }
  }

  private async emptyRedis(): Promise<void> {
    const redis = new Redis(this.options.redis.url);
    try {
      await redis.flushall();
      this.emptied += 1;
    } finally {
      redis.disconnect();
    }
  }

  /** Half of ours. */
  private async killSessions(server: MysqlServer): Promise<void> {
    const db = await mysql.createConnection(server.url);
    try {
      const [rows] = await db.query<RowDataPacket[]>("SELECT PROCESSLIST_ID AS id FROM performance_schema.session_connect_attrs WHERE ATTR_NAME='program_name' AND ATTR_VALUE='drover'");
      for (const row of this.dice.some(rows, 50)) if (await db.query(`KILL ${Number(row["id"])}`).then(() => true, () => false)) this.sessions += 1;
    } finally {
      db.destroy();
    }
  }

  private async restartTarget(): Promise<void> {
    const { target } = this.options;
    await (this.dice.percent(60) ? target.kill() : target.stop());
    await sleep(this.dice.below(OUTAGE));
    await target.start();
    this.restarts += 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end.abort();
    await this.done;
  }
}
