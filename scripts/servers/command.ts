/** A program with what it takes to run it: a path alone, or a loader with its library path before it. */
import { spawn } from "node:child_process";
import type { SpawnOptions } from "node:child_process";

export interface Command {
  file: string;
  args: string[];
  /** Added to the caller's environment. */
  env?: Record<string, string>;
}

export interface Output {
  stdout: string;
  stderr: string;
}

export interface RunOptions extends Pick<SpawnOptions, "cwd" | "uid" | "gid"> {
  env?: Record<string, string>;
  input?: string;
  signal?: AbortSignal;
}

class CommandError extends Error {
  override readonly name = "CommandError";
  constructor(
    readonly command: string,
    readonly code: number | string,
    readonly output: Output,
  ) {
    const said = (output.stderr.trim() || output.stdout.trim()).split("\n").slice(-8).join("\n");
    super(`${command} ended with ${code}${said === "" ? "" : `: ${said}`}`);
  }
}

/** Runs to the end; throws CommandError unless the exit code is 0. */
export async function run(command: Command, args: string[] = [], options: RunOptions = {}): Promise<Output> {
  const { env, input, ...rest } = options;
  const child = spawn(command.file, [...command.args, ...args], {
    ...rest,
    env: { ...process.env, ...command.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const output: Output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  // a program that ends without reading its input is judged by its exit code, not by the broken pipe
  child.stdin.on("error", () => {});
  child.stdin.end(input ?? "");
  const code = await new Promise<number | string>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exit, signal) => resolve(exit ?? signal ?? "nothing"));
  });
  if (code !== 0) throw new CommandError([command.file, ...args].join(" "), code, output);
  return output;
}
