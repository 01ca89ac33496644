/** `scaling`: the same diff by one worker and by several, with both servers far away. */
import { connect } from "./connect.js";
import { countsOf } from "./counts.js";
import { DelayingProxy } from "./delaying-proxy.js";
import { SCHEMA } from "./ledger.js";
import { MIGRATION, Stage, note } from "./stage.js";

export interface ScalingOptions {
  rows: number;
  tables: number;
  /** Milliseconds in each direction. */
  delay: number;
  workers: number;
  runs: number;
}

/** How many times as fast the workers must be together. */
const WANTED = 3;

export async function proveScaling(options: ScalingOptions): Promise<{ ok: boolean }> {
  const { rows, delay, workers, tables } = options;
  await using stage = await Stage.open();
  const source = await connect(stage.source);
  await source.query(`SET sql_log_bin=0, cte_max_recursion_depth=100000000; CREATE DATABASE ${SCHEMA}`);
  const each = Math.ceil(rows / tables);
  for (let i = 1; i <= tables; i++) {
    await source.query(`CREATE TABLE ${SCHEMA}.t${i} (id INT PRIMARY KEY, v VARCHAR(20) NOT NULL)`);
    await source.query(`INSERT INTO ${SCHEMA}.t${i} WITH RECURSIVE seq (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM seq WHERE i < ${each}) SELECT i, i FROM seq; ANALYZE NO_WRITE_TO_BINLOG TABLE ${SCHEMA}.t${i}`);
  }
  await source.end();
  const client = stage.client();
  stage.startWorkers(2);
  await stage.migrate(client, "copy", "*");
  await stage.stopWorkers();
  await using sourceProxy = await DelayingProxy.open(stage.source, delay);
  await using targetProxy = await DelayingProxy.open(stage.target, delay);
  const ports = { source: sourceProxy.port, target: targetProxy.port };
  /** Seconds of the diffs with so many workers, which are warm. */
  const measure = async (count: number): Promise<number> => {
    stage.startWorkers(count, ports);
    const seconds: number[] = [];
    for (let run = 0; run <= options.runs; run++) {
      const { diffId } = await client.startDiff(MIGRATION);
      const report = await client.waitForDiff(MIGRATION, diffId);
      const compared = countsOf(report);
      if (report.hasMismatch || compared.rowsCompared !== each * tables) throw new Error(`the diff compared ${JSON.stringify(compared)}`);
      const took = (Date.parse(report.completedAt ?? "") - Date.parse(report.startedAt)) / 1000;
      note(`${count} worker(s)${run === 0 ? ", cold" : ""}: ${took.toFixed(2)} s`);
      if (run > 0) seconds.push(took);
    }
    await stage.stopWorkers();
    return seconds.toSorted((a, b) => a - b)[seconds.length >> 1] as number;
  };
  const one = await measure(1);
  const several = await measure(workers);
  const factor = Math.round((one / several) * 100) / 100;
  const line = { proof: "scaling", ok: factor >= WANTED, rows: each * tables, tables, delayMs: delay, workers, secondsByOne: one, secondsByAll: several, factor };
  console.log(JSON.stringify(line));
  return line;
}
