/** A worker as a real process of its own, to be killed, stopped and continued. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { fileURLToPath } from "node:url";

const CLI = fileURLToPath(new URL("../../dist/producers/cli/main.js", import.meta.url));

export interface WorkerProcessOptions {
  env: Record<string, string>;
  args?: string[];
  /** Where its log goes; default: nowhere. */
  logFile?: string;
}

export class WorkerProcess {
  private readonly child: ChildProcess;
  private readonly log: WriteStream | null;
  readonly ended: Promise<void>;

  constructor(options: WorkerProcessOptions) {
    this.log = options.logFile === undefined ? null : createWriteStream(options.logFile, { flags: "a" });
    this.child = spawn(process.execPath, [CLI, "worker", ...(options.args ?? [])], {
      env: { PATH: process.env["PATH"] ?? "", DROVER_LOG_LEVEL: "info", ...options.env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    if (this.log) this.child.stderr?.pipe(this.log);
    else this.child.stderr?.resume();
    // A runner that is interrupted leaves no worker behind, also none that is stopped.
    const orphaned = () => this.signal("SIGKILL");
    process.once("exit", orphaned);
    this.ended = once(this.child, "exit").then(() => void process.off("exit", orphaned));
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error("the worker did not start");
    return this.child.pid;
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  signal(name: NodeJS.Signals): void {
    if (this.running) process.kill(this.pid, name);
  }

  /** SIGKILL, and waits until it is gone. */
  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.ended;
    this.log?.end();
  }

  /** SIGTERM. @returns the milliseconds that it took */
  async stop(): Promise<number> {
    const begin = Date.now();
    this.signal("SIGCONT");
    this.signal("SIGTERM");
    await this.ended;
    this.log?.end();
    return Date.now() - begin;
  }
}
