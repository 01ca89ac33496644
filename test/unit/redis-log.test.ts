import { EventEmitter } from "node:events";
import type { Redis } from "ioredis";
import { expect, test } from "vitest";
import { logRedis } from "../../src/workers/redis-log.js";

test("a Redis that is away is told with a cure, less and less often, and that it is back", () => {
  const redis = new EventEmitter();
  const said: [number, object, string | undefined][] = [];
  let now = 0;
  const note = (fields: object, text?: string) => void said.push([now, fields, text]);
  logRedis(redis as unknown as Redis, { warn: note, info: note } as never, () => now);
  for (; now < 600_000; now += 1_000) redis.emit("error", Object.assign(new Error(""), { code: "ECONNREFUSED" }));
  expect(said[0]).toMatchObject([0, { message: "ECONNREFUSED", cure: expect.stringContaining("DROVER_REDIS_URL") }, "Redis does not answer"]);
  expect(said.map(([at]) => at / 1000).slice(0, 6)).toEqual([0, 2, 6, 14, 30, 62]);
  expect(said.length).toBeLessThan(18);
  redis.emit("ready");
  redis.emit("ready");
  expect(said.at(-1)).toMatchObject([600_000, { awaySeconds: 600 }, "Redis is back"]);
  expect(said.filter(([, , text]) => text === "Redis is back")).toHaveLength(1);
});
