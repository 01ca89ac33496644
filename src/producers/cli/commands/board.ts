/** `drover board`: the web page, with Bull Board. */
import type { Command } from "commander";
import { integerArgument } from "../arguments.js";
import { action, openTelemetry, type Cli } from "../run.js";
import { untilSignal } from "../until-signal.js";

export function addBoardCommand(program: Command, cli: Cli): void {
  program
    .command("board")
    .summary("serve the web page and Bull Board until SIGTERM or SIGINT")
    .description("Serves a page of all migrations at /, Bull Board at /queues, the HTTP API at /api/v1 and /healthz; prints its URL.\nWithout DROVER_API_TOKEN it listens on loopback only; with it, browsers log in with the token and programs send it as a bearer token.")
    .option("--port <port>", "port to listen on, 0 for a free one", integerArgument(0), 3000)
    .option("--host <address>", "address to listen on (default: loopback; all addresses when DROVER_API_TOKEN is set)")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExamples:\n  drover board\n  DROVER_API_TOKEN=… drover board --port 8080")
    .action(
      action(cli, async (run, options: { port: number; host?: string }) => {
        const config = run.config();
        const { startBoard } = await import("../../board/start.js");
        const signalled = untilSignal();
        const telemetry = await openTelemetry(config, "drover-board");
        const board = await startBoard({ config, telemetry: telemetry?.hook, port: options.port, host: options.host });
        run.print({ url: board.url }, () => [board.url]);
        await signalled;
        await board.close();
        await telemetry?.close();
      }),
    );
}
