/** `bench -- copy`: rows per second from the command to indexed tables on the target. */
import type { MysqlServer } from "../../scripts/servers/index.js";
import { requireEqual } from "../compare.js";
import { ask } from "../connection.js";
import { fill, SCHEMA } from "../data.js";
import { Drover } from "../drover.js";
import type { BenchOptions } from "../options.js";
import { mydumperPeer } from "../peers/mydumper.js";
import { mysqldumpPeer } from "../peers/mysqldump.js";
import { reasonOf } from "../peers/peer.js";
import { progress } from "../progress.js";
import { printLine, type Side } from "../report.js";
import { measure } from "../resources.js";
import type { BenchServers } from "../servers.js";

export interface CopyPeer {
  copy(source: MysqlServer, target: MysqlServer): Promise<void>;
}

/** A way to copy, Drover's or a peer's. */
interface Contender extends Side {
  copy: () => Promise<void>;
}

const PEERS: Record<string, (targetBinlog: boolean) => Promise<CopyPeer>> = { "mydumper+myloader -t 4": mydumperPeer, "mysqldump | mysql": mysqldumpPeer };

export async function benchCopy(options: BenchOptions, { source, target, redis }: BenchServers): Promise<void> {
  await fill(source, options.rows);
  await using drover = await Drover.open({ redis, servers: { SRC: source, DST: target }, workers: options.workers, profile: options.profile });
  const peers = await Promise.all(
    Object.entries(PEERS)
      .filter(([name]) => options.peers.length === 0 || options.peers.some((part) => name.includes(part)))
      .map(([name, open]) => contender(name, () => open(options.targetBinlog), source, target)),
  );
  const mine: Contender = {
    name: "Drover",
    figures: [],
    copy: async () => {
      await drover.start("copy", "DST", "copy+follow");
      await drover.copied("copy", "DST");
    },
  };
  const all = [mine, ...peers];
  for (let run = 0; run < options.runs; run++) {
    // Every run begins with another one.
    for (let i = 0; i < all.length; i++) {
      const one = all[(run + i) % all.length] as Contender;
      if (one.failure !== undefined) continue;
      try {
        await ask(target, `DROP DATABASE IF EXISTS ${SCHEMA}`);
        const stop = measure({ source: [source.pid], target: [target.pid], redis: [redis.pid], workers: drover.pids });
        await one.copy();
        const usage = stop();
        one.figures.push({ ...usage, rows: await requireEqual(one.name, source, target) });
        progress(`run ${run + 1}: ${one.name}: ${Math.round(options.rows / usage.seconds)} rows/s in ${usage.seconds.toFixed(1)} s, CPU ${JSON.stringify(usage.cpuSeconds)}, others ${usage.othersCpuSeconds}`);
        if (one === mine) await drover.forget("copy");
      } catch (error) {
        if (one === mine) throw error;
        one.failure = reasonOf(error);
        one.figures = [];
        progress(`${one.name}: ${one.failure}`);
      }
    }
  }
  const line = { job: "copy", rows: options.rows, targetBinlog: options.targetBinlog, extra: { workers: options.workers, workerMaxRssMb: drover.workerMaxRssMb } };
  for (const peer of peers) printLine(line, mine, peer);
  if (peers.length === 0) printLine(line, mine, { name: "none", figures: [] });
}

async function contender(name: string, open: () => Promise<CopyPeer>, source: MysqlServer, target: MysqlServer): Promise<Contender> {
  try {
    const peer = await open();
    return { name, figures: [], copy: () => peer.copy(source, target) };
  } catch (error) {
    progress(`${name} cannot be had: ${reasonOf(error)}`);
    return { name, figures: [], failure: reasonOf(error), copy: () => Promise.resolve() };
  }
}
