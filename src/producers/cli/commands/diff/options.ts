/** The options of a comparison, as `diff start` and `diff schedule` take them. */
import type { Command } from "commander";
import type { DiffOptionsInput } from "../../../../shared/contracts/diff.js";
import { durationArgument, integerArgument, listArgument } from "../../arguments.js";

/** What `withDiffOptions` adds. */
export type DiffFlags = Pick<
  DiffOptionsInput,
  "tables" | "where" | "maxSamples" | "maxRows" | "maxDuration" | "onlyKeys" | "maxAttempts" | "maxThreadsRunning" | "replica" | "maxReplicaLag"
>;

export function withDiffOptions(command: Command): Command {
  return command
    .option("--tables <names>", "only these tables of the source, such as shop.orders,shop.items", listArgument)
    .option("--where <condition>", "only rows for which this is true, in SQL")
    .option("--max-samples <n>", "differing rows named per table (default: 10)", integerArgument(0))
    .option("--max-rows <n>", "compare at most so many rows of the source, over all tables", integerArgument(1))
    .option("--max-duration <duration>", "stop after this time, such as 10m; `diff resume` goes on", durationArgument)
    .option("--only-keys", "name the keys of differing rows, not the columns that differ")
    .option("--max-attempts <n>", "failures after which a chunk is given up (default: 20)", integerArgument(1))
    .option("--max-threads-running <n>", "hold back while more threads than this run on the source (default: 64)", integerArgument(1))
    .option("--replica <connection>", "hold back while this replica of the source lags")
    .option("--max-replica-lag <duration>", "with --replica: from this lag on (default: 5s)", durationArgument);
}

/** Those of the flags that were given. */
export function diffOptionsOf(flags: DiffFlags): DiffFlags {
  const { tables, where, maxSamples, maxRows, maxDuration, onlyKeys, maxAttempts, maxThreadsRunning, replica, maxReplicaLag } = flags;
  const all = { tables, where, maxSamples, maxRows, maxDuration, onlyKeys, maxAttempts, maxThreadsRunning, replica, maxReplicaLag };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
