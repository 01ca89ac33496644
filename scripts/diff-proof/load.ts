/** `load`: diffs in a row while the compared rows are written to, and not one difference that is not there. */
import { connect } from "./connect.js";
import { countsOf, isClean } from "./counts.js";
import { contentOf, fillLedger } from "./ledger.js";
import { MIGRATION, Stage, note } from "./stage.js";
import { Writers } from "./writers.js";

export interface LoadOptions {
  rows: number;
  diffs: number;
  rate: number;
  workers: number;
}

/** A commit takes as long as the disk needs: so many at once, that the rate does not hang on it. */
const WRITERS = 8;
/** Of the asked rate so much must have been written, or the proof proves little. */
const RATE_REACHED = 0.9;

export async function proveLoad(options: LoadOptions): Promise<{ ok: boolean }> {
  const { rows, diffs, rate } = options;
  await using stage = await Stage.open();
  const connection = await connect(stage.source);
  await fillLedger(connection, rows);
  await connection.end();
  stage.startWorkers(options.workers);
  const client = stage.client();
  await stage.migrate(client, "copy+follow");
  await using writers = await Writers.start(stage.source, { rows, rate, spare: new Set(), writers: WRITERS });
  const began = performance.now();
  const reports = [];
  for (let i = 1; i <= diffs; i++) {
    const { diffId } = await client.startDiff(MIGRATION);
    const report = await client.waitForDiff(MIGRATION, diffId);
    reports.push(report);
    note(`diff ${i}: ${JSON.stringify(countsOf(report))}, ${Math.round(writers.perSecond)} transactions/s`);
  }
  const seconds = (performance.now() - began) / 1000;
  await writers.stop();
  await client.waitFor(MIGRATION, "caught-up");
  const equal = (await contentOf(stage.source)) === (await contentOf(stage.target));
  const counts = countsOf(...reports);
  const each = reports.every((report) => report.state === "completed" && isClean(countsOf(report)));
  const ok = each && equal && writers.perSecond >= rate * RATE_REACHED;
  const line = { proof: "load", ok, rows, diffs, rate, writes: writers.count, writesPerSecond: Math.round(writers.perSecond), seconds: Math.round(seconds), ...counts, equalInTheEnd: equal };
  console.log(JSON.stringify(line));
  return line;
}
