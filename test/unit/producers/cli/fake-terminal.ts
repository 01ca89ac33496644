/** A terminal that keeps what is written to it. */
import { Readable } from "node:stream";
import { runCli } from "../../../../src/producers/cli/program.js";
import type { OutputStream, Terminal } from "../../../../src/producers/cli/terminal.js";

class Kept implements OutputStream {
  text = "";
  readonly isTTY = false;
  write(text: string): void {
    this.text += text;
  }
}

export interface CliResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs the CLI in this process. */
export async function cli(args: readonly string[], options: { environment?: Record<string, string>; stdin?: string } = {}): Promise<CliResult> {
  const stdout = new Kept();
  const stderr = new Kept();
  const terminal: Terminal = { stdout, stderr, stdin: Readable.from([options.stdin ?? ""]), environment: options.environment ?? {} };
  const exitCode = await runCli(args, terminal);
  return { exitCode, stdout: stdout.text, stderr: stderr.text };
}
