/** What of Redis stands in the way: it is reached, new enough, keeps what it is given, and takes writes. */
import type { Redis } from "ioredis";
import { DroverError } from "../../shared/errors.js";
import { failure, warning, type Finding } from "../../shared/preflight/finding.js";
import { redisAnswer, redisPlace } from "./redis-answer.js";

/** BullMQ refuses to work with an older one. */
const MINIMUM = [5, 0, 0];
/** BullMQ asks for this one. */
const RECOMMENDED = [6, 2, 0];

export interface RedisCheckOptions {
  redis: Redis;
  url: string;
  prefix: string;
  /** `options.backlogBytes` of the migration that is to be started. */
  backlogBytes: number;
}

/** All findings; one alone when Redis does not answer. Writes one key, and removes it. */
export async function checkRedis({ redis, url, prefix, backlogBytes }: RedisCheckOptions): Promise<Finding[]> {
  const place = `Redis at ${redisPlace(url)}`;
  let facts: Map<string, string>;
  try {
    facts = parseInfo(await redisAnswer(redis, url, () => redis.info()));
  } catch (error) {
    if (!(error instanceof DroverError)) throw error;
    return [failure("redis", error.message, error.cure ?? "start it")];
  }
  return [...versionFindings(place, facts), ...memoryFindings(place, facts, backlogBytes), ...(await writeFindings(redis, url, place, prefix, facts))];
}

function parseInfo(text: string): Map<string, string> {
  return new Map([...text.matchAll(/^([a-z0-9_]+):(.*?)\r?$/gm)].map(([, name = "", value = ""]) => [name, value]));
}

function versionFindings(place: string, facts: ReadonlyMap<string, string>): Finding[] {
  const text = facts.get("redis_version") ?? "";
  const version = text.split(".").map(Number);
  const below = (wanted: readonly number[]) => {
    const i = wanted.findIndex((part, n) => part !== (version[n] ?? 0));
    return i >= 0 && (version[i] ?? 0) < (wanted[i] as number);
  };
  const cure = `upgrade it to ${RECOMMENDED.slice(0, 2).join(".")} or newer`;
  if (facts.get("cluster_enabled") === "1") return [failure("redis-cluster", `${place} is a cluster, which Drover cannot use`, "use a Redis without cluster mode")];
  if (text === "") return [];
  if (below(MINIMUM)) return [failure("redis-version", `${place} is version ${text}, BullMQ needs ${MINIMUM.join(".")}`, cure)];
  return below(RECOMMENDED) ? [warning("redis-version", `${place} is version ${text}, BullMQ asks for ${RECOMMENDED.join(".")}`, cure)] : [];
}

/** Evicted keys are lost jobs: Drover makes them again, but only after it has noticed, and again and again. */
function memoryFindings(place: string, facts: ReadonlyMap<string, string>, backlogBytes: number): Finding[] {
  const policy = facts.get("maxmemory_policy") ?? "noeviction";
  const limit = Number(facts.get("maxmemory") ?? 0);
  const findings: Finding[] = [];
  if (policy !== "noeviction") {
    const message = `${place}: maxmemory-policy is ${policy}, so that jobs and batches may be thrown away`;
    const cure = `run there: CONFIG SET maxmemory-policy noeviction; and put "maxmemory-policy noeviction" into its configuration`;
    findings.push(limit > 0 ? failure("redis-eviction", `${message} when its ${mebibytes(limit)} are used up`, cure) : warning("redis-eviction", `${message} once it has a maxmemory`, cure));
  }
  if (limit > 0 && limit - Number(facts.get("used_memory") ?? 0) < backlogBytes)
    findings.push(warning("redis-memory", `${place} has ${mebibytes(limit)} of memory, less than ${mebibytes(backlogBytes)} (backlogBytes) of it free`, "raise its maxmemory, or lower options.backlogBytes"));
  return findings;
}

async function writeFindings(redis: Redis, url: string, place: string, prefix: string, facts: ReadonlyMap<string, string>): Promise<Finding[]> {
  if (facts.get("role") === "slave" || facts.get("role") === "replica")
    return [failure("redis-read-only", `${place} is a replica`, "let DROVER_REDIS_URL name the primary")];
  const key = `${prefix}:check`;
  try {
    // One script of ours: the user's rights to write and to run scripts show at once.
    await redisAnswer(redis, url, () => redis.eval("redis.call('SET', KEYS[1], '1', 'PX', 1000) return redis.call('DEL', KEYS[1])", 1, key));
    return [];
  } catch (error) {
    if (!(error instanceof DroverError)) throw error;
    return [failure("redis-write", `${place} does not take writes: ${error.cause instanceof Error ? error.cause.message : error.message}`, "see what Redis's message means; Drover needs to write, and to run scripts (EVAL)")];
  }
}

function mebibytes(bytes: number): string {
  return `${Math.max(1, Math.round(bytes / 2 ** 20))} MiB`;
}
