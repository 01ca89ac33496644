/** Worker processes that are killed, stopped and continued at random, and replaced when they die. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { Dice } from "./dice.js";

const ENTRY = fileURLToPath(new URL("worker.ts", import.meta.url));

export interface WorkerPoolOptions {
  /** Of the workers. */
  env: Record<string, string>;
  size: number;
  seed: number;
  /** Between two blows, on average (milliseconds); 0: there are none. */
  pause: number;
  logFile: string;
}

/** A worker kills itself at so many of a million hook points. */
const KILLS = 60;
/** How long a stopped worker sleeps: shorter and longer than its locks live (milliseconds). */
const SLEEPS = [300, 2_000, 9_000, 18_000];

export class WorkerPool implements AsyncDisposable {
  private readonly options: WorkerPoolOptions;
  private readonly dice: Dice;
  private readonly log: WriteStream;
  private readonly workers = new Set<ChildProcess>();
  private readonly stopped = new Set<ChildProcess>();
  private readonly end = new AbortController();
  private readonly blows: Promise<void>;
  private born = 0;
  killed = 0;
  paused = 0;

  constructor(options: WorkerPoolOptions) {
    this.options = options;
    this.dice = new Dice(options.seed);
    this.log = createWriteStream(options.logFile, { flags: "a" });
    for (let i = 0; i < options.size; i++) this.bear();
    this.blows = options.pause === 0 ? Promise.resolve() : this.strike();
  }

  private bear(): void {
    const worker = spawn(process.execPath, ["--import", "tsx", ENTRY], {
      env: { ...this.options.env, PATH: process.env["PATH"] ?? "", DROVER_LOG_LEVEL: "info", DROVER_FUZZ_SEED: String(this.options.seed * 1_000 + ++this.born), DROVER_FUZZ_KILLS: String(this.options.pause === 0 ? 0 : KILLS) },
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    worker.stderr?.pipe(this.log, { end: false });
    this.workers.add(worker);
    worker.once("exit", () => {
      this.workers.delete(worker);
      if (this.end.signal.aborted) return;
      this.killed += 1;
      this.bear();
    });
  }

  private async strike(): Promise<void> {
    const { signal } = this.end;
    while (!signal.aborted) {
      await sleep(this.dice.below(this.options.pause * 2), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const awake = [...this.workers].filter((worker) => !this.stopped.has(worker));
      // Somebody must be awake.
      if (awake.length < 2) continue;
      const victim = this.dice.pick(awake);
      if (this.dice.percent(60)) victim.kill("SIGKILL");
      else if (this.dice.percent(30)) victim.kill("SIGTERM");
      else void this.lull(victim, this.dice.pick(SLEEPS));
    }
  }

  private async lull(worker: ChildProcess, time: number): Promise<void> {
    this.paused += 1;
    this.stopped.add(worker);
    worker.kill("SIGSTOP");
    await sleep(time, undefined, { signal: this.end.signal }).catch(() => undefined);
    worker.kill("SIGCONT");
    this.stopped.delete(worker);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end.abort();
    await this.blows;
    await Promise.all([...this.workers].map(async (worker) => {
      const exited = once(worker, "exit");
      worker.kill("SIGKILL");
      await exited;
    }));
    this.log.end();
  }
}
