/** Drover's own processes: children that run the command line as a user would, each in a session of its own. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync, mkdirSync } from "node:fs";
import type { WriteStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { Workspace } from "../servers/workspace.js";

const CLI = fileURLToPath(new URL("../../dist/producers/cli/main.js", import.meta.url));
/** A worker ends its jobs within 10 s (contract); milliseconds. */
const END_LIMIT = 12_000;
/** Of one process, kept to be shown when it fails. */
const KEPT_LINES = 40;

/** A line of a process's log. */
export interface LogLine {
  process: string;
  /** `performance.now()` of when it was read. */
  at: number;
  msg: string;
  [field: string]: unknown;
}

export interface ProcessesOptions {
  /** Drover's settings: `DROVER_…`. */
  settings: Record<string, string>;
  /** Where each process's log is written, too. */
  logFolder: string | undefined;
}

export interface DroverProcess {
  readonly name: string;
  readonly pid: number;
  /** The first line that it says on the stream that was named at its start. @throws when it ends before */
  readonly firstLine: Promise<string>;
  /** `kill -9`, without a word to anybody. */
  kill(): Promise<void>;
}

interface Running {
  child: ChildProcess;
  exited: Promise<unknown>;
  tail: string[];
  ending: boolean;
}

export class Processes implements AsyncDisposable {
  readonly #options: ProcessesOptions;
  /** For its watchdog, which ends the processes when this one is gone without having done so. */
  readonly #workspace: Workspace;
  readonly #running = new Map<string, Running>();
  #onLog: (line: LogLine) => void = () => {};
  #failure: Error | undefined;

  private constructor(options: ProcessesOptions, workspace: Workspace) {
    this.#options = options;
    this.#workspace = workspace;
  }

  static async open(options: ProcessesOptions): Promise<Processes> {
    if (!existsSync(CLI)) throw new Error("Drover is not built: run `npm ci`, or `npm run build`");
    return new Processes(options, await Workspace.open());
  }

  /** Those that run. */
  get names(): string[] {
    return [...this.#running.keys()];
  }

  onLog(listener: (line: LogLine) => void): void {
    this.#onLog = listener;
  }

  /** @param answersOn where its first line says that it is ready: a result on stdout, or the log on stderr */
  start(name: string, args: readonly string[], answersOn: "stdout" | "stderr"): DroverProcess {
    const { settings, logFolder } = this.#options;
    const child = spawn(process.execPath, [CLI, ...args], {
      env: { ...foreignEnvironment(), ...settings },
      stdio: ["ignore", "pipe", "pipe"],
      // a terminal's Ctrl-C goes to the demo alone, which ends its processes in order
      detached: true,
    });
    const pid = child.pid;
    if (pid === undefined) throw new Error(`${name} cannot be started`);
    this.#workspace.watchdog.watch(pid);
    const running: Running = { child, exited: once(child, "exit"), tail: [], ending: false };
    this.#running.set(name, running);
    child.once("exit", (code, signal) => this.#onExit(name, running, code ?? signal));
    const log = openLog(logFolder, name);

    const firstLine = new Promise<string>((resolve, reject) => {
      createInterface({ input: child[answersOn] as NodeJS.ReadableStream }).once("line", resolve);
      child.stdout?.resume();
      createInterface({ input: child.stderr as NodeJS.ReadableStream }).on("line", (line) => {
        log?.write(`${line}\n`);
        running.tail.push(line);
        if (running.tail.length > KEPT_LINES) running.tail.shift();
        const parsed = parseLine(line);
        if (parsed !== undefined) this.#onLog({ ...parsed, process: name, at: performance.now() });
      });
      child.once("close", () => {
        log?.end();
        reject(this.#failure ?? new Error(`${name} has ended`));
      });
    });
    // whoever does not wait for it has `check`
    firstLine.catch(() => undefined);
    return { name, pid, firstLine, kill: () => this.#kill(running) };
  }

  /** @throws when a process has ended that nobody ended */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Ends all of them cleanly; those that do not end in time, with `kill -9`. */
  async close(): Promise<void> {
    await Promise.all(
      [...this.#running.values()].map(async (running) => {
        running.ending = true;
        running.child.kill("SIGTERM");
        const limit = new AbortController();
        const late = sleep(END_LIMIT, undefined, { signal: limit.signal }).then(
          () => running.child.kill("SIGKILL"),
          () => undefined,
        );
        await running.exited;
        limit.abort();
        await late;
      }),
    );
    await this.#workspace.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #kill(running: Running): Promise<void> {
    running.ending = true;
    running.child.kill("SIGKILL");
    await running.exited;
  }

  #onExit(name: string, running: Running, how: number | string | null): void {
    this.#running.delete(name);
    if (running.ending) return;
    this.#failure ??= new Error(`${name} ended by itself (${how}); the end of its log:\n${running.tail.join("\n")}`);
  }
}

function openLog(folder: string | undefined, name: string): WriteStream | undefined {
  if (folder === undefined) return undefined;
  mkdirSync(folder, { recursive: true });
  return createWriteStream(join(folder, `${name}.log`));
}

/** Without the caller's own settings of Drover, which mean other servers. */
function foreignEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("DROVER_")));
}

/** Undefined for a line that is no JSON: Node's own warnings. */
function parseLine(line: string): { msg: string; [field: string]: unknown } | undefined {
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === "object" && parsed !== null && "msg" in parsed ? (parsed as { msg: string }) : undefined;
  } catch {
    return undefined;
  }
}
