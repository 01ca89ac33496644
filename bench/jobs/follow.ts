/** `bench -- follow`: how fast a follower that was away catches up. */
import { requireEqual } from "../compare.js";
import { ask, executedSet } from "../connection.js";
import { fill } from "../data.js";
import { Drover } from "../drover.js";
import { LoadWriter } from "../load.js";
import type { BenchOptions } from "../options.js";
import { reasonOf } from "../peers/peer.js";
import { prepareReplica, replicate, stopReplica } from "../peers/replication.js";
import { progress } from "../progress.js";
import { printLine, type Side } from "../report.js";
import { measure } from "../resources.js";
import type { BenchServers } from "../servers.js";

const CHANGES = 200_000;

interface Follower extends Side {
  /** Starts the follower and waits until it holds everything up to `position`. */
  catchUp: (position: string) => Promise<void>;
  /** Lets it stand until the next load is written. */
  rest: () => Promise<void>;
  server: BenchServers["target"];
}

export async function benchFollow(options: BenchOptions, servers: BenchServers): Promise<void> {
  const { source, target, redis } = servers;
  const replica = await servers.replica();
  await fill(source, options.rows);
  await using drover = await Drover.open({ redis, servers: { SRC: source, DST: target, REPLICA: replica }, workers: options.workers, profile: options.profile });

  // Both targets begin with the same rows.
  progress("copying to both targets");
  await drover.start("seed", "REPLICA", "copy");
  await drover.copied("seed", "REPLICA");
  await drover.forget("seed");
  await drover.start("follow", "DST", "copy+follow");
  await drover.client.waitFor("follow", "streaming");
  await drover.client.pause("follow");
  await requireEqual("the copy", source, replica);
  await prepareReplica(source, replica);

  const mine: Follower = {
    name: "Drover",
    figures: [],
    server: target,
    catchUp: async (position) => {
      await drover.client.resume("follow");
      await drover.applied("follow", "DST", position);
    },
    rest: async () => void (await drover.client.pause("follow")),
  };
  const peer: Follower = { name: "native replication, 4 appliers", figures: [], server: replica, catchUp: (position) => replicate(replica, position), rest: () => stopReplica(replica) };
  const followers = options.peers.length > 0 && !options.peers.some((part) => peer.name.includes(part)) ? [mine] : [mine, peer];

  const load = new LoadWriter(source, options.rows);
  for (let run = 0; run < options.runs; run++) {
    progress(`run ${run + 1}: writing ${CHANGES} row changes`);
    const rows = await writeLoad(servers, load);
    const position = await executedSet(source);
    for (const one of run % 2 === 0 ? followers : followers.toReversed()) {
      if (one.failure !== undefined) continue;
      try {
        const stop = measure({ source: [source.pid], target: [one.server.pid], redis: [redis.pid], workers: drover.pids });
        await one.catchUp(position);
        const usage = stop();
        await one.rest();
        await requireEqual(one.name, source, one.server);
        one.figures.push({ ...usage, rows });
        progress(`run ${run + 1}: ${one.name}: ${Math.round(rows / usage.seconds)} row changes/s in ${usage.seconds.toFixed(1)} s, CPU ${JSON.stringify(usage.cpuSeconds)}, others ${usage.othersCpuSeconds}`);
      } catch (error) {
        if (one === mine) throw error;
        one.failure = reasonOf(error);
        progress(`${one.name}: ${one.failure}`);
      }
    }
  }
  printLine({ job: "follow", rows: CHANGES, targetBinlog: options.targetBinlog, extra: { tableRows: options.rows, workers: options.workers, workerMaxRssMb: drover.workerMaxRssMb } }, mine, peer);
}

/** The load's own commits are not what is measured: they need not be durable. */
async function writeLoad({ source }: BenchServers, load: LoadWriter): Promise<number> {
  await ask(source, "SET GLOBAL sync_binlog=0, GLOBAL innodb_flush_log_at_trx_commit=2");
  const rows = await load.write(CHANGES);
  await ask(source, "SET GLOBAL sync_binlog=1, GLOBAL innodb_flush_log_at_trx_commit=1");
  return rows;
}
