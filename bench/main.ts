/** `npm run bench -- copy|follow|diff`: Drover and its peers in turn, on the same servers and the same data. See docs/bench.md. */
import { existsSync } from "node:fs";
import { benchCopy } from "./jobs/copy.js";
import { benchDiff } from "./jobs/diff.js";
import { benchFollow } from "./jobs/follow.js";
import { parseOptions, type BenchOptions, type JobName } from "./options.js";
import { openBenchServers, type BenchServers } from "./servers.js";

const benches: Record<JobName, (options: BenchOptions, servers: BenchServers) => Promise<void>> = { copy: benchCopy, follow: benchFollow, diff: benchDiff };

// The servers have a watchdog; workers end with this process (`Drover.spawnWorker`).
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

try {
  const options = parseOptions(process.argv.slice(2));
  if (!existsSync(new URL("../dist/producers/cli/main.js", import.meta.url))) throw new Error("the workers are not built: run `npm run build`");
  await using servers = await openBenchServers(options);
  await benches[options.job](options, servers);
} catch (error) {
  console.error(error instanceof Error ? (error.stack ?? error.message) : error);
  process.exitCode = 1;
}
