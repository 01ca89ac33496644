/** The command line of the bench. */
import { parseArgs } from "node:util";

export const JOBS = ["copy", "follow", "diff"] as const;
export type JobName = (typeof JOBS)[number];

export interface BenchOptions {
  job: JobName;
  /** Over four tables. */
  rows: number;
  runs: number;
  /** Drover's worker processes. */
  workers: number;
  /** Only these peers, by a part of their names; empty: all. */
  peers: string[];
  /** Whether the targets write a binlog, for Drover and the peers alike. */
  targetBinlog: boolean;
  /** Folder for V8 profiles of the workers; null: none. */
  profile: string | null;
}

const USAGE = `usage: npm run bench -- ${JOBS.join("|")} [--rows N] [--runs N] [--workers N] [--peer NAME] [--no-peers] [--target-binlog] [--profile FOLDER]`;

/** @throws Error with the usage */
export function parseOptions(args: string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      rows: { type: "string", default: "2000000" },
      runs: { type: "string", default: "1" },
      workers: { type: "string", default: "2" },
      peer: { type: "string", multiple: true, default: [] },
      "no-peers": { type: "boolean", default: false },
      "target-binlog": { type: "boolean", default: false },
      profile: { type: "string" },
    },
  });
  const job = JOBS.find((name) => name === positionals[0]);
  if (job === undefined || positionals.length > 1) throw new Error(USAGE);
  return {
    job,
    rows: count("rows", values.rows),
    runs: count("runs", values.runs),
    workers: count("workers", values.workers),
    peers: values["no-peers"] ? ["none"] : values.peer,
    targetBinlog: values["target-binlog"],
    profile: values.profile ?? null,
  };
}

function count(name: string, text: string): number {
  const value = Number(text.replaceAll("_", ""));
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} takes a whole number from 1 on\n${USAGE}`);
  return value;
}
