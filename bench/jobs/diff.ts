/** `bench -- diff`: rows compared per second on two equal servers. */
import mysql, { type RowDataPacket } from "mysql2/promise";
import type { MysqlServer } from "../../scripts/servers/index.js";
import { requireEqual } from "../compare.js";
import { fill } from "../data.js";
import { Drover } from "../drover.js";
import type { BenchOptions } from "../options.js";
import { reasonOf } from "../peers/peer.js";
import { tableChecksumPeer } from "../peers/table-checksum.js";
import { progress } from "../progress.js";
import { printLine, type Side } from "../report.js";
import { measure } from "../resources.js";
import type { BenchServers } from "../servers.js";

interface Comparer extends Side {
  compare: () => Promise<void>;
}

export async function benchDiff(options: BenchOptions, { source, target, redis }: BenchServers): Promise<void> {
  await fill(source, options.rows);
  await using drover = await Drover.open({ redis, servers: { SRC: source, DST: target }, workers: options.workers, profile: options.profile });
  progress("copying");
  // Without a follow: pt-table-checksum writes its results into the source's binlog as statements.
  await drover.start("diff", "DST", "copy");
  await drover.copied("diff", "DST");
  const rows = await requireEqual("the copy", source, target);

  let longestSourceStatementMs = 0;
  const mine: Comparer = {
    name: "Drover",
    figures: [],
    compare: async () => {
      await forgetStatements(source);
      const { diffId } = await drover.client.startDiff("diff");
      const report = await drover.client.waitForDiff("diff", diffId);
      const compared = report.tables.reduce((sum, table) => sum + table.matching, 0);
      if (report.hasMismatch || compared !== rows) throw new Error(`the diff found ${compared} of ${rows} rows equal`);
      longestSourceStatementMs = Math.max(longestSourceStatementMs, await longestStatement(source));
    },
  };
  const peer: Comparer = { name: "pt-table-checksum (source alone)", figures: [], compare: () => Promise.resolve() };
  if (options.peers.length > 0 && !options.peers.some((part) => peer.name.includes(part))) peer.failure = "not asked for";
  else {
    try {
      const checksum = await tableChecksumPeer();
      peer.compare = () => checksum(source);
    } catch (error) {
      peer.failure = reasonOf(error);
    }
  }
  for (let run = 0; run < options.runs; run++) {
    for (const one of run % 2 === 0 ? [mine, peer] : [peer, mine]) {
      if (one.failure !== undefined) continue;
      try {
        const stop = measure({ source: [source.pid], target: [target.pid], redis: [redis.pid], workers: drover.pids });
        await one.compare();
        const usage = stop();
        one.figures.push({ ...usage, rows });
        progress(`run ${run + 1}: ${one.name}: ${Math.round(rows / usage.seconds)} rows/s in ${usage.seconds.toFixed(1)} s, CPU ${JSON.stringify(usage.cpuSeconds)}, others ${usage.othersCpuSeconds}`);
      } catch (error) {
        if (one === mine) throw error;
        one.failure = reasonOf(error);
        one.figures = [];
        progress(`${one.name}: ${one.failure}`);
      }
    }
  }
  printLine({ job: "diff", rows, targetBinlog: options.targetBinlog, extra: { workers: options.workers, workerMaxRssMb: drover.workerMaxRssMb, longestSourceStatementMs } }, mine, peer);
}

async function forgetStatements(server: MysqlServer): Promise<void> {
  await queried(server, "TRUNCATE performance_schema.events_statements_summary_by_digest");
}

/** The longest of all statements since they were forgotten, in milliseconds, as the server took the time. */
async function longestStatement(server: MysqlServer): Promise<number> {
  // Picoseconds.
  const [row] = await queried(server, "SELECT MAX(MAX_TIMER_WAIT) / 1e9 AS ms FROM performance_schema.events_statements_summary_by_digest");
  return Math.round(Number(row?.["ms"]));
}

async function queried(server: MysqlServer, statement: string): Promise<RowDataPacket[]> {
  const db = await mysql.createConnection(server.url);
  try {
    const [rows] = await db.query<RowDataPacket[]>(statement);
    return rows;
  } finally {
    db.destroy();
  }
}
