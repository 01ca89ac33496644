import { describe, expect, it } from "vitest";
import { pino } from "pino";
import { DroverError } from "../../src/shared/errors.js";
import type { Session } from "../../src/shared/mysql/session.js";
import type { EngineContext } from "../../src/workers/context.js";
import { ErrorSaver } from "../../src/workers/error-saver.js";

function saver(answers: (DroverError | null)[], ending = new AbortController().signal) {
  const connections = {
    use: async (_name: string, _role: string, _signal: AbortSignal, work: (session: Session) => Promise<unknown>) => {
      const error = answers.shift();
      if (error) throw error;
      return await work({} as Session);
    },
  };
  return new ErrorSaver({ connections, log: pino({ level: "silent" }) } as unknown as Pick<EngineContext, "connections" | "log">, ending);
}

const lost = () => new DroverError("CONNECTION_LOST", "gone");

describe("ErrorSaver", () => {
  it("saves at once where it can", async () => {
    const saved: string[] = [];
    await saver([]).save("item", "DST", async () => void saved.push("a"));
    expect(saved).toEqual(["a"]);
  });

  it("goes on by itself until it is saved, and of an item saves the latest error only", async () => {
    const saved: string[] = [];
    const it = saver([lost(), lost(), lost()]);
    await it.save("item", "DST", async () => void saved.push("first"));
    expect(saved).toEqual([]);
    await it.save("item", "DST", async () => void saved.push("second"));
    await expect.poll(() => saved, { timeout: 5_000 }).toEqual(["second"]);
  });

  it("gives up at once what this process can never save, and saves the next one", async () => {
    for (const code of ["CONFIG_INVALID", "STATE_VERSION", "NOT_FOUND"] as const) {
      const saved: string[] = [];
      const it = saver([new DroverError(code, "cannot")]);
      await it.save("item", "DST", async () => void saved.push("a"));
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(saved).toEqual([]);
      await it.save("item", "DST", async () => void saved.push("b"));
      expect(saved).toEqual(["b"]);
    }
  });

  it("goes on where a grant is missing: it may come", async () => {
    const saved: string[] = [];
    await saver([new DroverError("STATEMENT_REFUSED", "denied", { errno: 1142 })]).save("item", "DST", async () => void saved.push("a"));
    await expect.poll(() => saved, { timeout: 5_000 }).toEqual(["a"]);
  });

  it("gives up when the process ends", async () => {
    const ending = new AbortController();
    const saved: string[] = [];
    await saver([lost()], ending.signal).save("item", "DST", async () => void saved.push("a"));
    ending.abort();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(saved).toEqual([]);
  });
});
