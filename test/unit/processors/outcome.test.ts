/** What becomes of a job, by the error that its work ended with. */
import { createServer, type AddressInfo } from "node:net";
import { DelayedError, UnrecoverableError, WaitingError, type Job } from "bullmq";
import { Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import { DroverError, ERROR_KINDS, type ErrorCode } from "../../../src/shared/errors.js";
import { decodeJobError } from "../../../src/shared/job-error.js";
import { createLogger } from "../../../src/shared/logger.js";
import type { ProcessorContext } from "../../../src/workers/processors/context.js";
import { guarded, NextLease } from "../../../src/workers/processors/outcome.js";

interface Run {
  /** `delayed`, `waiting`, `failed`, or that it was done. */
  outcome: string;
  /** Recorded for the migration while it is retried. */
  recorded: string[];
  /** The migration ended with it. */
  failed: string[];
  delay: number | null;
  error: unknown;
}

/** One run per thrown value, of one job in one process. */
async function runs(thrown: readonly unknown[], options: { ref?: boolean; shutdown?: boolean; saveFails?: boolean } = {}): Promise<Run[]> {
  const shutdown = new AbortController();
  if (options.shutdown === true) shutdown.abort(new DroverError("ABORTED", "the worker ends"));
  let run: Run;
  const context = {
    shutdown: shutdown.signal, log: createLogger("silent"), metrics: { jobError: () => undefined },
    errors: {
      record: (_ref: unknown, error: DroverError) => void run.recorded.push(error.code),
      fail: async (_ref: unknown, error: DroverError) => {
        if (options.saveFails === true) throw new DroverError("CONNECTION_LOST", "the target is gone");
        run.failed.push(error.code);
      },
    },
  } as unknown as ProcessorContext;
  const ref = options.ref === false ? null : { migration: "m", target: "DST" };
  const job = {
    id: "1", name: "copy", queueName: "copy",
    moveToDelayed: async (at: number) => void (run.delay = at - Date.now()),
    moveToWait: async () => undefined,
  } as unknown as Job;
  const queue = [...thrown];
  const processor = guarded(context, () => ref, async () => {
    const next = queue.shift();
    if (next === undefined) return "done";
    throw next as Error;
  });
  const results: Run[] = [];
  for (let i = 0; i < thrown.length; i++) {
    run = { outcome: "", recorded: [], failed: [], delay: null, error: null };
    try {
      run.outcome = JSON.stringify(await processor(job, "token", new AbortController().signal));
    } catch (error) {
      run.error = error;
      run.outcome = error instanceof DelayedError ? "delayed" : error instanceof WaitingError ? "waiting" : error instanceof UnrecoverableError ? `failed ${decodeJobError(error.message).code}` : `thrown ${(error as DroverError).code}`;
    }
    results.push(run);
  }
  return results;
}
const one = async (...args: Parameters<typeof runs>) => (await runs(...args))[0] as Run;
const ofKind = (kind: string) => (Object.keys(ERROR_KINDS) as ErrorCode[]).filter((code) => ERROR_KINDS[code] === kind);

describe("an error of ours", () => {
  it.each(ofKind("retryable"))("%s is tried again, the migration goes on", async (code) => {
    const ordinary = code === "FENCE_MOVED" || code === "LIMIT_REACHED";
    expect(await one([new DroverError(code, "x")])).toMatchObject({ outcome: "delayed", recorded: ordinary ? [] : [code], failed: [] });
  });

  it.each([...ofKind("fatal"), ...ofKind("bug"), ...ofKind("config").filter((code) => code !== "CONFIG_INVALID" && code !== "NOT_FOUND")])("%s ends the migration", async (code) => {
    expect(await one([new DroverError(code, "x")])).toMatchObject({ outcome: `failed ${code}`, failed: [code], recorded: [] });
  });

  it("a worker without a connection leaves the migration to others", async () => {
    expect(await one([new DroverError("CONFIG_INVALID", "x")])).toMatchObject({ outcome: "delayed", recorded: ["CONFIG_INVALID"] });
    expect(await one([new DroverError("CONFIG_INVALID", "x")], { ref: false })).toMatchObject({ outcome: "failed CONFIG_INVALID" });
  });

  it("a migration that was removed meanwhile takes its jobs along", async () => {
    expect(await one([new DroverError("NOT_FOUND", "x")])).toMatchObject({ outcome: '{"void":true}', failed: [] });
    expect(await one([new DroverError("NOT_FOUND", "x")], { ref: false })).toMatchObject({ outcome: "failed NOT_FOUND" });
  });

  it("a limit that lasts is told", async () => {
    const recorded = (await runs(Array.from({ length: 5 }, () => new DroverError("LIMIT_REACHED", "x")))).map((run) => run.recorded.length);
    expect(recorded).toEqual([0, 0, 0, 1, 1]);
  });

  it("a failure that cannot be recorded is tried again until it is", async () => {
    expect(await one([new DroverError("BINLOG_PURGED", "x")], { saveFails: true })).toMatchObject({ outcome: "delayed", failed: [] });
  });

  it("waits longer from failure to failure, and a lost server is left to others for a while", async () => {
    const [first, ...others] = await runs(Array.from({ length: 6 }, () => new DroverError("SERVER_BUSY", "x")));
    expect(first?.delay).toBeLessThanOrEqual(250);
    expect(Math.max(...others.map((run) => run.delay ?? 0))).toBeGreaterThan(first?.delay ?? 0);
    const lost = await runs([new DroverError("CONNECTION_LOST", "x"), new DroverError("BUG", "is not reached")]);
    expect(lost.map((run) => run.outcome)).toEqual(["delayed", "delayed"]);
  });
});

describe("what is no error", () => {
  it("gives the job back when the process ends or the lease is over", async () => {
    expect(await one([new NextLease()])).toMatchObject({ outcome: "waiting" });
    expect(await one([new DroverError("ABORTED", "x")], { shutdown: true })).toMatchObject({ outcome: "waiting", failed: [] });
    expect(await one([new TypeError("of a call that was cut off")], { shutdown: true })).toMatchObject({ outcome: "waiting", failed: [] });
    expect(await one([new DroverError("ABORTED", "the lock was lost")])).toMatchObject({ outcome: "thrown ABORTED", failed: [] });
  });
});

/** Answers the first command of a pipeline, then closes: as a server that goes down in the middle. */
async function cutPipeline(): Promise<unknown> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data) => (data.includes("second") ? socket.end("+OK\r\n") : socket.write("+OK\r\n")));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const redis = new Redis({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", maxRetriesPerRequest: null, enableReadyCheck: false, retryStrategy: () => 60_000, lazyConnect: true, disableClientInfo: true, protocol: 2 });
  redis.on("error", () => undefined);
  try {
    await redis.connect();
    const results = await redis.pipeline().set("first", "1").set("second", "2").exec();
    return results?.map(([error]) => error).find((error) => error !== null);
  } finally {
    redis.disconnect();
    server.close();
  }
}

describe("an error of somebody else", () => {
  const withCode = (message: string, code: string | number) => Object.assign(new Error(message), { code });

  it("a pipeline that was cut off after its first reply is Redis's, and is tried again", async () => {
    const cut = await cutPipeline();
    expect(String(cut)).toContain("AbortError");
    expect(await one([cut])).toMatchObject({ outcome: "delayed", recorded: ["REDIS_UNAVAILABLE"], failed: [] });
  });

  it.each<[string, unknown]>([
    ["a closed connection", new Error("Connection is closed.")],
    ["a refused one", withCode("connect ECONNREFUSED 127.0.0.1:1", "ECONNREFUSED")],
    ["an unknown host", withCode("getaddrinfo ENOTFOUND redis", "ENOTFOUND")],
    ["a command's time limit", new Error("Command timed out")],
    ["a stream that ended", new Error("Stream isn't writeable and enableOfflineQueue options is false")],
    ["a job whose key is gone: Redis was emptied", withCode("Missing key for job 7. updateProgress", -1)],
    ["a job whose lock is gone", withCode("Missing lock for job 7. moveToDelayed", -2)],
  ])("%s is Redis's", async (_what, thrown) => expect(await one([thrown])).toMatchObject({ outcome: "delayed", recorded: ["REDIS_UNAVAILABLE"] }));

  it.each<[string, unknown]>([
    ["a TypeError", new TypeError("x is not a function")],
    ["a text that only names a code", new Error("the column ECONNOMY is unknown")],
    ["a missing file", withCode("ENOENT: no such file", "ENOENT")],
    ["no error at all", "text"],
  ])("%s is a defect", async (_what, thrown) => expect(await one([thrown])).toMatchObject({ outcome: "failed BUG", failed: ["BUG"] }));
});
