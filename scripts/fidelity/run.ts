/** One pair of servers: the corpus goes from one to the other by copy and follow, through a real worker; then both servers are asked for each value. */
import { createConnection, type Connection } from "mysql2/promise";
import { DroverClient, loadConfig } from "../../src/producers/index.js";
import { WorkerProcess } from "../faults/worker-process.js";
import { DroverError } from "../../src/shared/errors.js";
import type { MysqlServer } from "../servers/index.js";
import { changeTable, createTable, placeOf, removeRefused, WAYS, WRITING, type Way } from "./application.js";
import { commonCharsets } from "./charsets.js";
import { corpus, type CorpusTable } from "./corpus.js";
import { ASKING, exactRows, type ExactRows } from "./exact.js";
import type { Results } from "./tally.js";

export interface RunOptions {
  source: MysqlServer;
  target: MysqlServer;
  redisUrl: string;
  /** Of the pair, for names and reports. */
  pair: string;
  /** Each `share`th value of the character sets only. */
  share: number;
  /** Only tables of these kinds of values. */
  only: RegExp;
  results: Results;
  /** Also a copy without LOAD DATA, and two diffs. */
  whole: boolean;
  /** Milliseconds that each of Drover's steps may take. */
  patience: number;
  /** Where the worker's log goes. */
  logFile?: string | undefined;
  note: (line: string) => void;
}

const SCHEMA = "fidelity";
/** For a second copy, without LOAD DATA. */
const PLAIN_SCHEMA = "fidelity_plain";
/** Rows per table that are changed on the target, for the diff to find. */
const PLANTED = 25;

export async function runPair(options: RunOptions): Promise<void> {
  const { source, target, pair, results, note } = options;
  await using at = await open(source);
  await using to = await open(target);
  const { common, missing } = await commonCharsets(at.db, to.db);
  const { tables: all, impossible } = corpus({ source: source.flavor, target: target.flavor, charsets: common, share: options.share });
  const tables = all.filter(({ what }) => options.only.test(what));
  results.impossible.push(...missing.map((name) => `${pair}: text in ${name}: the target does not have the character set`), ...impossible.map((what) => `${pair}: ${what}`));
  await at.db.query(WRITING);
  for (const schema of [SCHEMA, PLAIN_SCHEMA]) for (const side of [at, to]) await side.db.query(`DROP DATABASE IF EXISTS ${schema}`);
  await at.db.query(`CREATE DATABASE ${SCHEMA} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
  for (const table of tables) await createTable(at.db, SCHEMA, table);
  if (source.flavor !== target.flavor) await removeAllRefused(options, at.db, to.db, tables);
  note(`${pair}: ${tables.length} tables, ${tables.reduce((sum, table) => sum + table.values.length * table.columns.length, 0)} values`);

  const settings = {
    DROVER_REDIS_URL: options.redisUrl, DROVER_PREFIX: `fidelity-${pair}`, DROVER_STATE_SCHEMA: `fidelity_state_${source.flavor}`,
    DROVER_CONNECTION_SRC: source.url, DROVER_CONNECTION_DST: target.url,
  };
  await using worker = new Worker({ ...settings, TZ: "Pacific/Chatham" }, options.logFile);
  const client = new DroverClient({ config: loadConfig(settings) });
  try {
    await persistently(options, () => client.startMigration({ id: "m", source: "SRC", target: "DST", tables: [{ schema: SCHEMA }] }, { preflight: true, timeout: options.patience }));
    await persistently(options, () => client.waitFor("m", "streaming", { timeout: options.patience }));
    note(`${pair}: copied`);
    for (const table of tables) await changeTable(at.db, SCHEMA, table);
    await persistently(options, () => client.waitFor("m", "caught-up", { timeout: options.patience }));
    note(`${pair}: followed`);
    await at.db.query(ASKING);
    await to.db.query(ASKING);
    const expected = new Map<string, ExactRows>();
    for (const table of tables) {
      const rows = await exactRows(at.db, SCHEMA, table);
      expected.set(table.name, rows);
      judge(options, table, rows, await exactRows(to.db, SCHEMA, table));
    }
    note(`${pair}: compared`);
    if (!options.whole) return;
    await copyPlain(options, client, to.db, tables, expected);
    note(`${pair}: copied and compared without LOAD DATA`);
    await diffs(options, client, to.db, tables, expected);
    note(`${pair}: diffs`);
  } finally {
    await client.close();
    await worker[Symbol.asyncDispose]();
  }
}

/** Each value on each way: the source's form of it is the target's. */
function judge({ pair, results }: RunOptions, table: CorpusTable, source: ExactRows, target: ExactRows, ways = Object.keys(WAYS) as Way[]): void {
  for (const way of ways) {
    for (const ordinal of table.values.keys()) {
      if (table.refused?.has(ordinal)) continue;
      const place = placeOf(way, ordinal);
      const there = place === null ? undefined : source.get(place);
      const here = place === null ? target.get(WAYS[way] + ordinal) : target.get(place);
      for (const [i, column] of table.columns.entries()) {
        const name = table.columns.length === 1 ? "" : `${column.type.split(" ")[0]} `;
        const label = `${name}value ${ordinal} (${shortened(table.values[ordinal] ?? "")})`;
        if (place === null) results.count(pair, table.what, way, here === undefined ? null : `${label} is still there`);
        else if (there === undefined) results.count(pair, table.what, way, `${label} is not on the source`);
        else if (here === undefined) results.count(pair, table.what, way, `${label} is not on the target`);
        else results.count(pair, table.what, way, there[i] === here[i] ? null : `${label} is ${shortened(there[i] ?? "NULL")} on the source and ${shortened(here[i] ?? "NULL")} on the target`);
      }
    }
  }
}

/** Two families do not agree on which bytes are characters: what the target's server does not take is no matter of Drover's, but must be named. */
async function removeAllRefused(options: RunOptions, source: Connection, target: Connection, tables: readonly CorpusTable[]): Promise<void> {
  const { pair, results } = options;
  await target.query(`${WRITING}; CREATE DATABASE ${SCHEMA} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
  for (const table of tables.filter(({ what }) => what.startsWith("text in ") || (what === "json" && options.target.flavor === "mariadb"))) {
    const refused = await removeRefused(source, target, SCHEMA, table);
    if (refused > 0) results.impossible.push(`${pair}: ${refused} of ${table.values.length} values of ${table.what}: the target's server does not hold their bytes`);
  }
  await target.query(`DROP DATABASE ${SCHEMA}`);
}

/** The other way of writing: a target without local_infile gets statements. */
async function copyPlain(options: RunOptions, client: DroverClient, to: Connection, tables: readonly CorpusTable[], expected: ReadonlyMap<string, ExactRows>): Promise<void> {
  await to.query("SET GLOBAL local_infile=OFF");
  try {
    // Sessions of the pool know what the server allowed when they began; idle ones end after seconds.
    await new Promise((resolve) => setTimeout(resolve, 8_000));
    await persistently(options, () => client.startMigration({ id: "plain", source: "SRC", target: "DST", mode: "copy", tables: [{ schema: SCHEMA, targetSchema: PLAIN_SCHEMA }] }, { timeout: options.patience }));
    await persistently(options, () => client.waitFor("plain", "copied", { timeout: options.patience }));
  } finally {
    await to.query("SET GLOBAL local_infile=ON");
  }
  for (const table of tables) judge({ ...options, results: options.results }, table, expected.get(table.name) ?? new Map(), await exactRows(to, PLAIN_SCHEMA, table), ["copy", "insert", "update", "clear", "move"]);
}

/** The diff finds nothing where all is equal, and each row of which a value was changed for a neighbour's. */
async function diffs(options: RunOptions, client: DroverClient, to: Connection, tables: readonly CorpusTable[], expected: ReadonlyMap<string, ExactRows>): Promise<void> {
  const { pair, results } = options;
  const diff = async () => {
    const { diffId } = await persistently(options, () => client.startDiff("m", { maxSamples: 1 }));
    const report = await persistently(options, () => client.waitForDiff("m", diffId, { timeout: options.patience }));
    return new Map(report.tables.map((table) => [table.source, table]));
  };
  const before = await diff();
  await to.query("SET SESSION sql_mode=''");
  const planted = new Map<string, number>();
  for (const table of tables) {
    const rows = expected.get(table.name) ?? new Map();
    const count = Math.min(PLANTED, table.values.length - 1);
    const names = table.columns.map(({ name }) => name);
    const name = `${SCHEMA}.${table.name}`;
    await to.query(`UPDATE ${name} AS t JOIN ${name} AS f ON f.id=t.id-${WAYS.insert}+1 SET ${names.map((one) => `t.${one}=f.${one}`).join(", ")} WHERE t.id BETWEEN ${WAYS.insert} AND ${WAYS.insert + count - 1}`);
    // What the server made of it: to some of its types two different values are too equal for an UPDATE.
    const changed = await exactRows(to, SCHEMA, table);
    planted.set(table.name, [...rows].filter(([id, row]) => JSON.stringify(row) !== JSON.stringify(changed.get(id))).length);
  }
  const after = await diff();
  for (const table of tables) {
    const [clean, changed] = [before.get(`${SCHEMA}.${table.name}`), after.get(`${SCHEMA}.${table.name}`)];
    const wrong = (clean?.mismatched ?? -1) + (clean?.missingOnTarget ?? 0) + (clean?.extraOnTarget ?? 0) + (clean?.inconclusive ?? 0);
    results.count(pair, table.what, "diff", wrong === 0 ? null : `the diff finds ${wrong} differences where there are none`);
    const due = planted.get(table.name) ?? 0;
    results.count(pair, table.what, "diff", changed?.mismatched === due ? null : `the diff finds ${changed?.mismatched} of ${due} differences`);
  }
}

/** On a machine that is busy with other work a server does not always answer in time; each of these steps may be asked for again. */
async function persistently<T>({ patience }: RunOptions, step: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + patience;
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof DroverError) || error.kind !== "retryable" || Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}

function shortened(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 40)}… (${text.length})`;
}

async function open(server: MysqlServer): Promise<{ db: Connection } & AsyncDisposable> {
  const db = await createConnection({ uri: server.url, charset: "utf8mb4", multipleStatements: true });
  db.on("error", () => undefined);
  return { db, [Symbol.asyncDispose]: async () => db.destroy() };
}

class Worker implements AsyncDisposable {
  private readonly process: WorkerProcess;

  constructor(env: Record<string, string>, logFile: string | undefined) {
    this.process = new WorkerProcess({ env, ...(logFile === undefined ? {} : { logFile }) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.process.running) await this.process.stop();
  }
}
