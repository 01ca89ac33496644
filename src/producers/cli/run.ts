/** What every command is given, and how it ends: errors become a message and an exit code in one place. */
import type { Command } from "commander";
import { loadConfig, type Config } from "../../shared/config.js";
import type { DroverClient } from "../client/drover-client.js";
import type { RunningTelemetry } from "../../shared/telemetry.js";
import { EXIT, exitCodeOf, type ExitCode } from "./exit-codes.js";
import { reportError } from "./report-error.js";
import { painter, sizeOf, type Paint, type Size, type Terminal } from "./terminal.js";

/** One call of the program. */
export interface Cli {
  terminal: Terminal;
  exitCode: ExitCode;
}

/** One run of a command. */
export class Run {
  readonly terminal: Terminal;
  /** `--json`: one JSON document on stdout instead of text. */
  readonly json: boolean;
  /** For stdout. */
  readonly paint: Paint;

  constructor(terminal: Terminal, json: boolean) {
    this.terminal = terminal;
    this.json = json;
    this.paint = painter(terminal.stdout, terminal.environment);
  }

  /** Of a result, which may be as long as it is: a terminal scrolls. */
  get size(): Size {
    return { ...sizeOf(this.terminal.stdout), height: Infinity };
  }

  /** The settings. @throws DroverError CONFIG_INVALID */
  config(): Config {
    return loadConfig(this.terminal.environment);
  }

  /** Prints the command's result. */
  print(document: unknown, lines: (paint: Paint) => readonly string[]): void {
    this.terminal.stdout.write(this.json ? `${JSON.stringify(document, null, 2)}\n` : lines(this.paint).map((line) => `${line}\n`).join(""));
  }

  /** Tells something beside the result. */
  note(text: string): void {
    this.terminal.stderr.write(`${text}\n`);
  }

  /** For a command that a worker has to carry out: whoever waits must know when there is none. */
  readonly onNoWorker = (): void => {
    this.note(`${painter(this.terminal.stderr, this.terminal.environment)("yellow", "!")} no worker consumes the queue control: start one with \`drover worker\` (same DROVER_REDIS_URL and DROVER_PREFIX); waiting for it`);
  };

  /** Runs `work` with a client, and closes it. */
  async withClient<T>(work: (client: DroverClient) => Promise<T>, config: Config = this.config()): Promise<T> {
    // Loaded here, so that `--help` and a wrong option need no BullMQ.
    const { DroverClient } = await import("../client/drover-client.js");
    const telemetry = await openTelemetry(config, "drover");
    const client = new DroverClient({ config, telemetry: telemetry?.hook });
    try {
      return await work(client);
    } finally {
      await client.close();
      await telemetry?.close();
    }
  }
}

/** Traces, when they are asked for; null otherwise. */
export async function openTelemetry(config: Config, service: string): Promise<RunningTelemetry | null> {
  if (!config.otel) return null;
  const { startTelemetry } = await import("../../shared/telemetry.js");
  return await startTelemetry(service);
}

/** A command's action: `work` gets the run, the command's arguments and its options, as commander passes them. */
export function action<A extends unknown[]>(cli: Cli, work: (run: Run, ...args: A) => Promise<ExitCode | void>): (...args: unknown[]) => Promise<void> {
  return async (...args) => {
    const command = args.pop() as Command;
    const json = command.opts<{ json?: boolean }>().json === true;
    try {
      cli.exitCode = (await work(new Run(cli.terminal, json), ...(args as A))) ?? EXIT.done;
    } catch (error) {
      reportError(error, cli.terminal, json);
      cli.exitCode = exitCodeOf(error);
    }
  };
}
