/** The real command line: `dist/producers/cli/main.js` in a process of its own, as a user runs it. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, rmdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MAIN = join(ROOT, "dist/producers/cli/main.js");
/** Test files run side by side: one of them builds, the others wait for it. */
const LOCK = join(ROOT, "node_modules/.drover-test-build");

/** Builds `dist` when a source is newer: tests must not pass or fail by an old build. */
export async function ensureBuilt(): Promise<void> {
  while (newest(join(ROOT, "src")) > builtAt()) {
    try {
      mkdirSync(LOCK);
    } catch {
      if (existsSync(LOCK) && Date.now() - statSync(LOCK).mtimeMs > 120_000) rmdirSync(LOCK);
      await sleep(200);
      continue;
    }
    try {
      const { status, stdout, stderr } = spawnSync("npm", ["run", "--silent", "build"], { cwd: ROOT, encoding: "utf8" });
      if (status !== 0) throw new Error(`npm run build failed:\n${stdout}${stderr}`);
      return;
    } finally {
      rmdirSync(LOCK);
    }
  }
}

function newest(folder: string): number {
  return Math.max(...readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs));
}

function builtAt(): number {
  return existsSync(MAIN) ? newest(join(ROOT, "dist")) : 0;
}

export interface CliEnd {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

interface CliInput {
  env: Record<string, string>;
  stdin?: string | undefined;
}

/** Runs one command to its end. */
export async function drover(args: readonly string[], input: CliInput): Promise<CliEnd> {
  const child = open(args, input);
  const output = collect(child);
  const [exitCode] = (await once(child, "close")) as [number | null];
  return { exitCode, ...output() };
}

/** The JSON document that a command prints; @throws with its stderr when it did not end as expected */
export async function droverJson<T>(args: readonly string[], input: CliInput, exitCode = 0): Promise<T> {
  const end = await drover([...args, "--json"], input);
  if (end.exitCode !== exitCode) throw new Error(`drover ${args.join(" ")} ended with ${end.exitCode}:\n${end.stdout}${end.stderr}`);
  return JSON.parse(end.stdout) as T;
}

/** A command that runs until it is told to end. */
export class DroverService implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly output: () => { stdout: string; stderr: string };
  private readonly exited: Promise<unknown[]>;

  constructor(args: readonly string[], input: CliInput) {
    this.child = open(args, input);
    this.output = collect(this.child);
    this.exited = once(this.child, "close");
  }

  /** Waits for a text on stdout or stderr. */
  async says(text: string): Promise<void> {
    for (;;) {
      const { stdout, stderr } = this.output();
      if ((stdout + stderr).includes(text)) return;
      if (this.child.exitCode !== null) throw new Error(`it ended with ${this.child.exitCode} before it said "${text}":\n${stdout}${stderr}`);
      await sleep(50);
    }
  }

  /** @returns its exit code and how long it took, in milliseconds */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<{ exitCode: number | null; took: number }> {
    const began = performance.now();
    this.child.kill(signal);
    await this.exited;
    return { exitCode: this.child.exitCode, took: performance.now() - began };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.end();
  }
}

function open(args: readonly string[], { env, stdin }: CliInput): ChildProcess {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: "pipe", env: { PATH: process.env["PATH"] ?? "", ...env } });
  child.stdin?.end(stdin ?? "");
  return child;
}

function collect(child: ChildProcess): () => { stdout: string; stderr: string } {
  const text = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (text.stdout += chunk));
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (text.stderr += chunk));
  return () => ({ ...text });
}
