/**
 * `npm run many -- [--migrations N] [--workers N] [--connections N] [--statements N] [--log FILE]`: many migrations of mixed sizes at once over a few
 * workers, with limits on both servers. The last line on stdout is one JSON document; exit code 0 only when all of this holds:
 * every migration got to streaming and is equal; the small ones took at most three times as long as alone; the servers never saw more
 * connections of the workers' user than the limit, and never more at work.
 */
import { parseArgs } from "node:util";
import { DroverClient } from "../../src/producers/index.js";
import { loadConfig } from "../../src/shared/config.js";
import { WorkerProcess } from "../faults/worker-process.js";
import { openServers } from "../servers/index.js";
import { Field } from "./field.js";
import { Watch } from "./watch.js";

const { values } = parseArgs({
  options: {
    migrations: { type: "string", default: "20" },
    workers: { type: "string", default: "4" },
    connections: { type: "string", default: "72" },
    statements: { type: "string", default: "32" },
    log: { type: "string" },
  },
});
const wanted = { migrations: Number(values.migrations), workers: Number(values.workers) };
const limits = { connections: Number(values.connections), statements: Number(values.statements) };
/** How often a small one is run alone; the middle one counts. */
const ALONE = 3;
const SLOWER_AT_MOST = 3;
const note = (line: string) => process.stderr.write(`${line}\n`);

await using servers = await openServers({ log: note });
const config = { innodb_flush_log_at_trx_commit: 2, sync_binlog: 0 };
const [source, target, redis] = await Promise.all([servers.mysql({ name: "source", config }), servers.mysql({ name: "target", config }), servers.redis()]);
await using field = await Field.open({ source, target, redis: redis.url });
const schemas = await field.createMigrations(wanted.migrations, ALONE);
note(`${schemas.length} schemas: ${schemas.map(({ size, rows }) => `${size} ${rows}`).join(", ")}`);

const settings = loadConfig(field.env("looker"));
const client = new DroverClient({ config: settings });
const workerEnv = { ...field.env("mover"), DROVER_LIMITS_SRC: limitText(), DROVER_LIMITS_DST: limitText() };
const workers = Array.from({ length: wanted.workers }, () => new WorkerProcess({ env: workerEnv, ...(values.log === undefined ? {} : { logFile: values.log }) }));
try {
  const alone: number[] = [];
  for (const { schema } of schemas.filter((one) => one.size === "alone")) {
    await client.startMigration(field.spec(schema));
    const [took] = await field.untilStreaming([schema]);
    alone.push(took ?? Infinity);
    await client.stop(schema);
    note(`${schema} alone: ${took?.toFixed(1)} s`);
  }
  const watch = new Watch({ source, target, user: "mover" });
  const many = schemas.filter((one) => one.size !== "alone");
  await Promise.all(many.map(({ schema }) => client.startMigration(field.spec(schema))));
  const took = await field.untilStreaming(many.map(({ schema }) => schema));
  const seen = await watch.end();
  const equal = await field.countEqual(many.map(({ schema }) => schema));
  const aloneSeconds = [...alone].sort((a, b) => a - b)[Math.floor(alone.length / 2)] ?? Infinity;
  const small = many.map(({ size }, i) => ({ size, seconds: took[i] ?? Infinity })).filter((one) => one.size === "small").map((one) => one.seconds);
  const worst = Math.max(...small);
  const kept = Object.values(seen).every((one) => one.connections <= limits.connections && one.statements <= limits.statements && one.refused === 0);
  const report = {
    ...wanted, finished: took.filter((seconds) => Number.isFinite(seconds)).length, equal, seconds: round(Math.max(...took)),
    small: { migrations: small.length, aloneSeconds: round(aloneSeconds), worstSeconds: round(worst), timesSlower: round(worst / aloneSeconds) },
    limits, seen,
    ok: took.every((seconds) => Number.isFinite(seconds)) && equal === many.length && worst <= SLOWER_AT_MOST * aloneSeconds && kept,
  };
  for (const [i, { schema, size, rows }] of many.entries()) note(`${schema} ${size} ${rows} rows: ${took[i]?.toFixed(1)} s`);
  process.stdout.write(`${JSON.stringify(report)}\n`);
  process.exitCode = report.ok ? 0 : 1;
} finally {
  await client.close();
  await Promise.all(workers.map((worker) => worker.stop()));
}

function limitText(): string {
  return `connections=${limits.connections},statements=${limits.statements}`;
}

function round(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}
