/** One run: copy, follow and diff under writes, one fault in one phase, and the proof at the end. */
import { Application, TABLES } from "./application.js";
import { compareSchemas } from "./compare.js";
import { strike, type FaultName } from "./faults.js";
import { lookWhoWorks } from "./held.js";
import { MIGRATION, applied, reach, recovered, until, wrongVerdict, type PhaseName } from "./phases.js";
import { Random } from "./random.js";
import { Rig, type RigServers } from "./rig.js";
import { Watch, type WatchReport } from "./watch.js";

export interface RunOptions {
  fault: FaultName;
  phase: PhaseName;
  seed: number;
  servers: RigServers;
  /** Rows per table. */
  rows: number;
  workers: number;
  ddl: boolean;
  logFile?: string;
}

export interface RunReport extends WatchReport {
  fault: FaultName;
  phase: PhaseName;
  seed: number;
  equal: boolean;
  recoverSeconds: number | null;
  redoneRows: number;
  transactions: number;
  error?: string;
  [note: string]: unknown;
}

const CHUNK_ROWS = 1_000;
let runs = 0;

export async function runFault(options: RunOptions): Promise<RunReport> {
  const random = new Random(options.seed);
  const name = `drf_${process.pid}_${++runs}`;
  await using rig = await Rig.open({ servers: options.servers, name, workers: options.workers, ...(options.logFile === undefined ? {} : { logFile: options.logFile }) });
  const application = new Application({ url: rig.source.url, schema: rig.schema, rows: options.rows, random, writers: 4, ddl: options.ddl });
  await application.load();
  const watch = new Watch({ sourceUrl: rig.source.url, targetUrl: rig.target.url, user: rig.user, schema: rig.schema, tables: TABLES });
  application.start();
  const facts = { equal: false, recoverSeconds: null as number | null, redoneRows: 0 };
  let error: string | undefined;
  try {
    await rig.client.startMigration({ id: MIGRATION, source: "SRC", target: "DST", tables: [{ schema: rig.schema }], options: { chunkRows: CHUNK_ROWS } });
    await reach(options.phase, rig, random);
    const { victim, chunks } = await lookWhoWorks(options.fault, options.phase, options.seed, rig);
    const from = await strike(options.fault, rig, victim);
    await recovered(options.phase, rig, chunks);
    facts.redoneRows = options.phase === "copying" ? chunks.length * CHUNK_ROWS : 0;
    facts.recoverSeconds = Math.max(0, Date.now() - from) / 1000;
    await rig.settle();
    await application.stop();
    const position = await rig.sourcePosition();
    await until(() => applied(rig, position), 120_000, "everything to be applied");
    const differences = await compareSchemas(rig.source.url, rig.target.url, rig.schema);
    const verdict = options.phase === "diff" ? await wrongVerdict(rig) : [];
    facts.equal = differences.length === 0;
    if (differences.length + verdict.length > 0) error = [...differences, ...verdict].join("; ");
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown);
    error += await whatStatusSays(rig);
  }
  await application.stop();
  const watched = await watch.stop();
  return {
    fault: options.fault, phase: options.phase, seed: options.seed, ...facts, ...watched, transactions: application.transactions, ...rig.notes,
    ...(error === undefined ? {} : { error }),
  };
}

/** Of a run that did not get on: for whoever looks for the reason. */
async function whatStatusSays(rig: Rig): Promise<string> {
  try {
    const { phase, error, stuck } = await rig.client.status(MIGRATION);
    return ` (${phase}${error === null ? "" : `, ${error.code}: ${error.message}`}${stuck === null ? "" : `, stuck: ${stuck.reason}`})`;
  } catch (thrown) {
    return ` (no status: ${thrown instanceof Error ? thrown.message : String(thrown)})`;
  }
}
