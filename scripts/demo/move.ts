/** The migration itself, by Drover's public client: check, copy with a death in the middle, catch up, follow, diff, cut over. */
import { setTimeout as sleep } from "node:timers/promises";

import { count, rate } from "../../src/producers/cli/format/numbers.js";
import type { DiffReport, DroverClient, MigrationSpecInput, MigrationStatus, TableStatus } from "../../src/producers/index.js";
import type { Application, ApplicationFigures } from "./application.js";
import type { Line, Progress } from "./progress.js";
import { ROWS, SCHEMA, TABLE_NAMES } from "./shop-schema.js";
import type { KillFigures, Victim } from "./victim.js";

const MIGRATION = "shop";

/** Chunks smaller than the default, so that there is a middle to be killed in. */
const SPEC: MigrationSpecInput = {
  id: MIGRATION,
  source: "SRC",
  target: "DST",
  mode: "copy+follow",
  tables: [{ schema: SCHEMA, include: ["*"] }],
  options: { chunkRows: 2_000, copyConcurrency: 6 },
};

/** On a machine that is busy with other things, too; what takes longer is an error with a name. Milliseconds. */
const LIMIT = 300_000;
/** How long the target follows the working application, to see how far it is behind. Milliseconds. */
const FOLLOW = 8_000;
const LOOK = 250;

export interface MoveOptions {
  client: DroverClient;
  application: Application;
  victim: Victim;
  progress: Progress;
  signal: AbortSignal;
  /** Throws when a process or the application has died that nobody killed. */
  check: () => void;
}

export interface MoveFigures {
  warnings: string[];
  copySeconds: number;
  bestCopyRate: number;
  kill: KillFigures | null;
  catchUpSeconds: number;
  /** Ascending, in seconds, while the target followed. */
  lags: number[];
  bestApplyRate: number;
  diff: DiffReport;
  diffSeconds: number;
  application: ApplicationFigures;
  cutOverSeconds: number;
  status: MigrationStatus;
}

export async function moveShop(options: MoveOptions): Promise<MoveFigures> {
  const { client, application, victim, progress, signal, check } = options;

  progress.begin("check");
  const findings = await client.check(SPEC, { signal });
  const started = await client.startMigration(SPEC, { signal });
  const warnings = [...findings, ...started.warnings].map((finding) => finding.message);
  progress.end(warnings.length === 0 ? "nothing stands in the way" : `${warnings.length} warnings`);

  progress.begin("copy");
  let bestCopyRate = 0;
  const copied = await client.waitFor(MIGRATION, "copied", {
    signal,
    timeout: LIMIT,
    onStatus: (status) => {
      check();
      bestCopyRate = Math.max(bestCopyRate, status.rates.copyRowsPerSecond);
      const share = showCopy(progress, status);
      if (status.phase === "copying" && victim.killWhenDue(share)) progress.note(`${victim.name} is killed (kill -9)`);
    },
  });
  const rows = copied.tables.reduce((sum, table) => sum + table.rowsCopied, 0);
  const copySeconds = progress.end(`${count(rows)} rows in ${count(copied.tables.reduce((sum, table) => sum + table.chunksDone, 0))} chunks`);
  const kill = await victim.figures(copied);

  let bestApplyRate = 0;
  const showFollow = (status: MigrationStatus): void => {
    check();
    bestApplyRate = Math.max(bestApplyRate, status.rates.applyRowsPerSecond);
    progress.show(`applying ${rate(status.rates.applyRowsPerSecond)}, lag ${status.lagSeconds ?? "?"} s, ${count(status.backlog.batches)} batches wait`);
  };
  progress.begin("catch up");
  await client.waitFor(MIGRATION, "streaming", { signal, timeout: LIMIT, onStatus: showFollow });
  const catchUpSeconds = progress.end();

  progress.begin("follow");
  const lags: number[] = [];
  for (const end = performance.now() + FOLLOW; performance.now() < end; ) {
    const status = await client.status(MIGRATION, { signal });
    if (status.lagSeconds !== null) lags.push(status.lagSeconds);
    showFollow(status);
    await sleep(LOOK, undefined, { signal });
  }
  lags.sort((a, b) => a - b);
  progress.end(`lag ${median(lags)} s in the middle, ${lags.at(-1) ?? "?"} s at worst`);

  progress.begin("diff");
  const { diffId } = await client.startDiff(MIGRATION, {}, { signal });
  const diff = await client.waitForDiff(MIGRATION, diffId, {
    signal,
    timeout: LIMIT,
    onReport: (report) => {
      check();
      const compared = report.tables.reduce((sum, table) => sum + table.rowsCompared, 0);
      progress.show(`${count(compared)} rows compared while the application writes`, report.progress.percent / 100);
    },
  });
  const diffSeconds = progress.end();

  progress.begin("cut over");
  const figures = await application.stop();
  progress.show("the writers have stopped; waiting until the target has everything");
  const stoppedAt = performance.now();
  const status = await client.waitFor(MIGRATION, "caught-up", { signal, timeout: LIMIT, onStatus: check });
  const cutOverSeconds = (performance.now() - stoppedAt) / 1000;
  progress.end("the target has everything that the source has");

  return { warnings, copySeconds, bestCopyRate, kill, catchUpSeconds, lags, bestApplyRate, diff, diffSeconds, application: figures, cutOverSeconds, status };
}

export function median(sorted: readonly number[]): number | string {
  return sorted[Math.floor(sorted.length / 2)] ?? "?";
}

/** @returns the share of all rows that is copied */
function showCopy(progress: Progress, status: MigrationStatus): number {
  const known = new Map(status.tables.map((table) => [table.source, table]));
  const lines = TABLE_NAMES.map((name) => tableLine(`${SCHEMA}.${name}`, ROWS[name], known.get(`${SCHEMA}.${name}`)));
  const total = Object.values(ROWS).reduce((sum, rows) => sum + rows, 0);
  const copied = status.tables.reduce((sum, table) => sum + table.rowsCopied, 0);
  const share = Math.min(1, copied / total);
  progress.show(`${count(copied)} rows, ${rate(status.rates.copyRowsPerSecond)}`, share, lines);
  return share;
}

function tableLine(name: string, rows: number, status: TableStatus | undefined): Line {
  const share = status === undefined ? 0 : status.phase === "copied" ? 1 : Math.min(1, status.rowsCopied / rows);
  const text = status === undefined ? "" : `${count(status.rowsCopied)} rows${status.phase === "indexing" ? ", building indexes" : ""}`;
  return { name, share, text };
}
