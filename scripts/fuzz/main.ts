/** `npm run fuzz -- --seeds N --seed S`: one line per seed, then `N passed, N failed`. */
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import mysql from "mysql2/promise";
import { loadConfig } from "../../src/shared/config.js";
import { openServers, type MysqlServer } from "../servers/index.js";
import { runSeed } from "./run-seed.js";
import { SeedLog } from "./seed-log.js";
import { Troubles } from "./troubles.js";
import { WorkerPool } from "./worker-pool.js";

const HELP = `Random tables, transactions and DDL on a source, with workers that die: at the end both sides must be equal.

npm run fuzz -- [--seeds N] [--seed FIRST] [--parallel N] [--steps N] [--workers N] [--pause MS]

--parallel   seeds at once, with the same workers and servers (6)
--steps      rounds of writes per seed (20)
--workers    worker processes (3)
--pause      between two kills or stops of a worker, on average, in milliseconds (20000); 0: none
--troubles   between two of these, on average, in milliseconds (30000): Redis is emptied, our sessions are killed, the target restarts; 0: none
`;

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    parallel: { type: "string", default: "6" },
    steps: { type: "string", default: "20" },
    workers: { type: "string", default: "3" },
    pause: { type: "string", default: "20000" },
    troubles: { type: "string", default: "30000" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const first = Number(values.seed);
const last = first + Number(values.seeds) - 1;
const logs = await mkdtemp(join(tmpdir(), "drover-fuzz-"));
await using servers = await openServers({ log: (line) => process.stderr.write(`${line}\n`) });
const settings = { innodb_flush_log_at_trx_commit: 2, sync_binlog: 0 };
const source = await servers.mysql({ name: "source", config: settings });
const target = await servers.mysql({ name: "target", config: settings });
const redis = await servers.redis();
const env = { DROVER_REDIS_URL: redis.url, DROVER_PREFIX: "fuzz", DROVER_STATE_SCHEMA: "fuzz_state", DROVER_CONNECTION_SRC: source.url, DROVER_CONNECTION_DST: target.url };
const begin = Date.now();
let passed = 0;
let failed = 0;
const sums = { statements: 0, refused: 0, transactions: 0, ddl: 0, commands: 0 };
const troubles = new Troubles({ source, target, redis, seed: first, pause: Number(values.troubles) });
{
  await using _ = troubles;
  await using pool = new WorkerPool({ env, size: Number(values.workers), seed: first, pause: Number(values.pause), logFile: join(logs, "workers.log") });
  let next = first;
  await Promise.all(Array.from({ length: Math.min(Number(values.parallel), last - first + 1) }, async () => {
    while (next <= last) await one(next++);
  }));
  const writes = `${sums.statements} statements (${sums.refused} refused) in ${sums.transactions} transactions and ${sums.ddl} × DDL; ${sums.commands} pauses, diffs and new starts`;
  const blows = `${pool.killed} workers ended, ${pool.paused} were stopped for a while; Redis was emptied ${troubles.emptied} times, ${troubles.sessions} sessions were killed, the target was restarted ${troubles.restarts} times`;
  process.stderr.write(`${Math.round((Date.now() - begin) / 1000)} s; ${writes}; ${blows}\n`);
}
if (failed === 0) await rm(logs, { recursive: true });
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

/** A server that ended by itself, on a statement that it should have survived: its log is kept, and the other seeds go on. */
async function revive(server: MysqlServer): Promise<string> {
  await troubles.calm();
  const connection = await mysql.createConnection({ uri: server.url, connectTimeout: 5_000 }).catch(() => null);
  connection?.destroy();
  if (connection !== null) return "";
  const log = join(logs, `${server.name}-${Date.now()}.log`);
  if (server.dataDir !== undefined) await copyFile(join(dirname(server.dataDir), "log"), log).catch(() => undefined);
  await server.start().catch(() => undefined);
  return `\nthe ${server.name} server had ended; its log: ${log}`;
}

async function one(seed: number): Promise<void> {
  const path = join(logs, `seed-${seed}.sql`);
  const log = new SeedLog(path);
  const report = await runSeed({ seed, name: `fuzz_${seed}`, sourceUrl: source.url, targetUrl: target.url, config: loadConfig(env), log, steps: Number(values.steps), calm: () => troubles.calm() });
  for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += report[key];
  if (report.problem !== null) report.problem += (await Promise.all([source, target].map(revive))).join("");
  await log.close(report.problem !== null);
  if (report.problem === null) passed += 1;
  else failed += 1;
  process.stdout.write(`seed ${seed}: ${report.problem === null ? "equal" : "FAILED"}, ${report.statements} statements (${report.refused} refused), ${report.transactions} transactions, ${report.ddl} × DDL, ${report.commands} commands, ${report.seconds} s\n`);
  if (report.problem !== null) process.stdout.write(`  ${report.problem.replaceAll("\n", "\n  ")}\n  log: ${path}, ${join(logs, "workers.log")}\n  again: npm run fuzz -- --seeds 1 --seed ${seed} --steps ${values.steps}\n`);
}
