/** One server process: starts, ends and is watched. Knows nothing of what the server serves. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

import type { Command } from "./command.js";
import { serverUser } from "./user.js";
import type { Watchdog } from "./watchdog.js";

/** A clean shutdown that takes longer than this is reported, not waited for. */
const stopLimitMs = 60_000;
/** Crash recovery of a large redo log counts as starting, so this is generous. */
const startLimitMs = 120_000;

export interface ServerChildOptions {
  name: string;
  command: Command;
  args: string[];
  folder: string;
  logFile: string;
  watchdog: Watchdog;
  /** Throws until the server answers. */
  probe: () => Promise<void>;
}

export class ServerChild {
  readonly #options: ServerChildOptions;
  #child: ChildProcess | undefined;
  #exited: Promise<string> | undefined;

  constructor(options: ServerChildOptions) {
    this.#options = options;
  }

  /** Undefined while the server is down. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when the server answers; throws with the end of its log when it ends before that. */
  async start(extra: string[] = []): Promise<void> {
    const { name, command, args, folder, logFile, watchdog, probe } = this.#options;
    if (this.#child !== undefined) throw new Error(`server ${name} runs already`);
    const log = openSync(logFile, "a");
    const child = spawn(command.file, [...command.args, ...args, ...extra], {
      cwd: folder,
      env: { ...process.env, ...command.env },
      stdio: ["ignore", log, log],
      // a session of its own: a terminal's Ctrl-C goes to the owner, which decides the order
      detached: true,
      ...serverUser(),
    });
    if (child.pid !== undefined) watchdog.watch(child.pid);
    closeSync(log);
    child.unref();
    this.#child = child;
    let ended: string | undefined;
    this.#exited = new Promise((resolve) => {
      const end = (how: string): void => {
        ended = how;
        if (this.#child === child) this.#child = undefined;
        resolve(how);
      };
      child.once("error", (error) => end(error.message));
      child.once("exit", (code, signal) => end(`exit code ${code ?? signal}`));
    });
    const deadline = Date.now() + startLimitMs;
    for (let pause = 20; ; pause = Math.min(pause * 1.3, 200)) {
      let last: unknown;
      try {
        await probe();
        return;
      } catch (error) {
        last = error;
      }
      if (ended !== undefined) throw new Error(`server ${name} did not start (${ended})\n${await this.#logEnd()}`);
      if (Date.now() > deadline) {
        await this.kill();
        throw new Error(`server ${name} did not answer in ${startLimitMs / 1000} s\n${await this.#logEnd()}`, { cause: last });
      }
      await sleep(pause);
    }
  }

  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async #end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    // Node knows when its own child is gone, so this never reaches a stranger with a reused pid
    child.kill(signal);
    // a process stopped by SIGSTOP would never see the SIGTERM
    if (signal === "SIGTERM") child.kill("SIGCONT");
    const limit = new AbortController();
    const late = sleep(stopLimitMs, "late", { signal: limit.signal }).catch(() => "ended");
    const how = await Promise.race([this.#exited, late]);
    limit.abort();
    if (how === "late") {
      throw new Error(`server ${this.#options.name} still runs ${stopLimitMs / 1000} s after ${signal}\n${await this.#logEnd()}`);
    }
  }

  async #logEnd(): Promise<string> {
    const text = await readFile(this.#options.logFile, "utf8").catch(() => "");
    return text.trimEnd().split("\n").slice(-12).join("\n");
  }
}
