import { afterEach, expect, test, vi } from "vitest";

import { openServers } from "../../scripts/servers/index.js";
import { chooseWay } from "../../scripts/servers/ways/choose.js";
import type { Way } from "../../scripts/servers/ways/way.js";

const lacking = (name: string, reason: string): Way => ({
  name,
  mysql: async () => {
    throw new Error(reason);
  },
  redis: async () => {
    throw new Error(reason);
  },
});

afterEach(() => {
  vi.unstubAllEnvs();
});

test("the first way that works is taken", async () => {
  const good: Way = {
    ...lacking("good", ""),
    redis: async () => ({ what: "good", open: async () => Promise.reject(new Error()) }),
  };
  const context = { workspace: async () => Promise.reject(new Error()), log: () => {} };
  const chosen = await chooseWay("redis", [lacking("bad", "no"), good, lacking("later", "no")], (way) => way.redis(context));
  expect(chosen.what).toBe("good");
});

test("when none works, one error names each with its reason", async () => {
  const ways = [lacking("Docker", "no engine"), lacking("PATH", "no mysqld")];
  await expect(chooseWay("mysql", ways, async (way) => way.mysql("mysql", {} as never))).rejects.toThrow(
    "no way to get a mysql server here. Tried:\n  Docker: no engine\n  PATH: no mysqld",
  );
});

test("a Redis of the environment is used as it is, and is not ours to stop", async () => {
  vi.stubEnv("DROVER_TEST_REDIS_URL", "redis://redis.example:6380");
  await using servers = await openServers();
  const redis = await servers.redis();
  expect(redis).toMatchObject({ host: "redis.example", port: 6380 });
  expect(servers.how).toBe("redis: the endpoint in DROVER_TEST_REDIS_URL");
  await expect(redis.stop()).rejects.toThrow("not ours to stop or start");
  await expect(redis.kill()).rejects.toThrow("DROVER_TEST_REDIS_URL");
});
