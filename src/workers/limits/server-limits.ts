/** The limits of the settings (`DROVER_LIMITS_<NAME>`), kept across all workers of a deployment. */
import type { Redis } from "ioredis";
import type { Config } from "../../shared/config.js";
import type { Admission, LimitKind, LimitUse } from "../../shared/mysql/admission.js";
import { Places } from "./places.js";
import { ServerLimit } from "./server-limit.js";

export class ServerLimits implements Admission {
  private readonly limits = new Map<string, ServerLimit>();

  constructor(options: { config: Config; redis: Redis; worker: string }) {
    const { config, redis, worker } = options;
    for (const [server, limits] of config.limits) {
      for (const kind of ["connections", "statements"] as const) {
        const limit = limits[kind];
        if (limit === null) continue;
        const places = new Places(redis, `${config.prefix}:limit:${server}:${kind}`);
        this.limits.set(`${server}/${kind}`, new ServerLimit({ server, kind, limit, places, worker, redisReady: () => redis.status === "ready" }));
      }
    }
  }

  async admit(server: string, kind: LimitKind, use: LimitUse, signal: AbortSignal): Promise<() => void> {
    return (await this.limits.get(`${server.toUpperCase()}/${kind}`)?.admit(use, signal)) ?? (() => undefined);
  }

  close(): void {
    for (const limit of this.limits.values()) limit.close();
  }
}
