/**
 * `npm run demo [-- --keep] [--mariadb] [--logs FOLDER]`: Drover at work, from nothing to a cut-over, in about a minute. Two MySQL
 * servers (MariaDB where there are none) and a Redis, a shop with an application that keeps writing, three workers of which one is killed -9 in the middle
 * of the copy, and at the end a comparison that does not trust Drover. Exit code 0: both sides are equal.
 */
import { parseArgs } from "node:util";

import { createConnection } from "mysql2/promise";

import { count } from "../../src/producers/cli/format/numbers.js";
import { DroverClient, DroverError } from "../../src/producers/index.js";
import { openServers, type Flavor, type MysqlServer, type Servers } from "../servers/index.js";
import { createAccount, STATE_SCHEMA } from "./accounts.js";
import { Application } from "./application.js";
import { compareSides } from "./compare.js";
import { interruptible, interruption, type Interrupted } from "./interrupt.js";
import { keepLines } from "./keep.js";
import { moveShop } from "./move.js";
import { Processes } from "./processes.js";
import { Progress } from "./progress.js";
import { isSuccess, reportLines } from "./report.js";
import { loadShop } from "./shop-data.js";
import { ROWS, SCHEMA, TABLE_NAMES } from "./shop-schema.js";
import { claim } from "./traces.js";
import { Victim } from "./victim.js";

const PREFIX = "drover-demo";
const STEPS = ["servers", "data", "start", "check", "copy", "catch up", "follow", "diff", "cut over", "compare"];
const WORKERS = 3;
/** Share of the rows that are copied when a worker is killed. */
const KILL_AT = 0.35;
const TRANSACTIONS_PER_SECOND = 250;
/** With `--keep`, afterwards: enough to see something move. */
const KEEP_TRANSACTIONS_PER_SECOND = 25;

interface DemoOptions {
  keep: boolean;
  mariadb: boolean;
  logFolder: string | undefined;
  progress: Progress;
  signal: AbortSignal;
}

/** @returns whether both sides are equal */
async function demo({ keep, mariadb, logFolder, progress, signal }: DemoOptions): Promise<boolean> {
  progress.begin("servers");
  await using servers = await openServers({ log: (line) => progress.show(line) });
  // their settings are the defaults of scripts/servers: what the README asks of a real source
  const opened = openPair(servers, mariadb, (line) => progress.show(line));
  const [source, target, redis] = await interruptible(Promise.all([opened.then(([one]) => one), opened.then(([, other]) => other), servers.redis()]), signal);
  await using _traces = await claim({ mysqls: [source, target], redis, prefix: PREFIX });
  progress.end(servers.how);

  progress.begin("data");
  await fillShop(source, progress, signal);

  progress.begin("start");
  const connections = { SRC: await createAccount(source, "source"), DST: await createAccount(target, "target") };
  const settings = {
    DROVER_REDIS_URL: redis.url,
    DROVER_PREFIX: PREFIX,
    DROVER_STATE_SCHEMA: STATE_SCHEMA,
    DROVER_CONNECTION_SRC: connections.SRC,
    DROVER_CONNECTION_DST: connections.DST,
  };
  await using processes = await Processes.open({ settings, logFolder });
  const board = processes.start("board", ["board", "--port", "0"], "stdout");
  const workers = Array.from({ length: WORKERS }, (_, i) => processes.start(`worker-${i + 1}`, ["worker"], "stderr"));
  const [boardUrl] = await interruptible(Promise.all([board, ...workers].map((process) => process.firstLine)), signal);
  const victim = new Victim(workers[1]!, KILL_AT);
  processes.onLog((line) => victim.onLog(line));
  await using application = await Application.start({ url: source.url, transactionsPerSecond: TRANSACTIONS_PER_SECOND });
  await using client = new DroverClient({ redisUrl: redis.url, prefix: PREFIX, stateSchema: STATE_SCHEMA, connections });
  progress.footer = () => `application: ${count(application.figures.transactions)} transactions | running: ${processes.names.join(", ")} | ${boardUrl}`;
  progress.end(`${WORKERS} workers; board at ${boardUrl}`);

  // goes first, whatever comes: what is being ended is nothing to look at
  using _quiet = progress;
  const check = (): void => {
    processes.check();
    application.check();
  };
  const move = await moveShop({ client, application, victim, progress, signal, check });

  progress.begin("compare");
  const comparison = await compareSides({
    sourceUrl: source.url,
    targetUrl: target.url,
    schema: SCHEMA,
    tables: TABLE_NAMES,
    signal,
    onProgress: (rows) => progress.show(`${count(rows)} rows`),
  });
  const comparisonSeconds = progress.end(`${count(comparison.reduce((sum, table) => sum + table.rows, 0))} rows`);
  progress.footer = () => "";
  progress.close();
  console.log(reportLines({ move, comparison, comparisonSeconds, servers: servers.how, totalSeconds: progress.seconds }).join("\n"));
  const equal = isSuccess({ move, comparison });

  if (keep) {
    await using _writers = await Application.start({ url: source.url, transactionsPerSecond: KEEP_TRANSACTIONS_PER_SECOND });
    console.log(keepLines({ boardUrl: boardUrl ?? "", source: source.url, target: target.url, settings }).join("\n"));
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  }
  return equal;
}

/** Two MySQL servers; two of MariaDB where MySQL cannot be had, or where that was asked for. The report says which. */
async function openPair(servers: Servers, mariadb: boolean, show: (line: string) => void): Promise<[MysqlServer, MysqlServer]> {
  const pair = (flavor: Flavor) => Promise.all([servers.mysql({ name: "source", flavor }), servers.mysql({ name: "target", flavor })]);
  if (mariadb) return await pair("mariadb");
  try {
    return await pair("mysql");
  } catch (error) {
    show(`${(error as Error).message}\nno MySQL here: trying MariaDB`);
    return await pair("mariadb").catch((second: unknown) => {
      throw new Error(`${(error as Error).message}\n${(second as Error).message}`, { cause: second });
    });
  }
}

async function fillShop({ url, flavor }: MysqlServer, progress: Progress, signal: AbortSignal): Promise<void> {
  const total = Object.values(ROWS).reduce((sum, rows) => sum + rows, 0);
  const connection = await createConnection(url);
  try {
    await loadShop(connection, { flavor, signal, onProgress: (rows) => progress.show(`${count(rows)} rows`, rows / total) });
  } finally {
    connection.destroy();
  }
  progress.end(`${count(total)} rows in ${TABLE_NAMES.length} tables of "${SCHEMA}"`);
}

function errorLines(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)];
  const problems = error instanceof DroverError ? error.problems.map((problem) => `  ${problem.message} → ${problem.cure}`) : [];
  const cure = error instanceof DroverError && error.cure !== undefined ? [`  → ${error.cure}`] : [];
  const cause = error.cause === undefined ? [] : errorLines(error.cause).map((line) => `  because: ${line}`);
  return [error.message, ...problems, ...cure, ...cause];
}

const USAGE = `npm run demo [-- OPTIONS]
  --keep         leave everything running at the end, and say how to look at it and how to stop it
  --mariadb      on MariaDB; without it only where MySQL cannot be had
  --logs FOLDER  write the logs of Drover's processes there`;

function readOptions(): { keep: boolean; mariadb: boolean; logs?: string | undefined } {
  try {
    const { values } = parseArgs({ options: { keep: { type: "boolean", default: false }, mariadb: { type: "boolean", default: false }, logs: { type: "string" }, help: { type: "boolean", default: false } } });
    if (!values.help) return values;
    console.log(USAGE);
    process.exit(0);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

const options = readOptions();
const signal = interruption();
const progress = new Progress({ stream: process.stderr, steps: STEPS });
let exitCode = 1;
try {
  exitCode = (await demo({ keep: options.keep, mariadb: options.mariadb, logFolder: options.logs, progress, signal })) ? 0 : 1;
} catch (error) {
  progress.close();
  const end = signal.aborted ? (signal.reason as Interrupted) : undefined;
  exitCode = end?.exitCode ?? 1;
  console.error(end === undefined ? `\nThe demo failed: ${errorLines(error).join("\n")}` : `\n${end.message}; everything that was started is gone`);
}
// what could not be told to end, an unfinished start of a server, must not hold the process; its watchdog sees to it
process.exit(exitCode);
