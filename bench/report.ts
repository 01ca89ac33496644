/** The bench's result lines (contract, "Scripts of the repo"). */
import { round, type Usage } from "./resources.js";

/** One measurement of one side. */
export interface Figure extends Usage {
  rows: number;
}

export interface Side {
  name: string;
  figures: Figure[];
  /** Why there are none. */
  failure?: string;
}

export interface LineOptions {
  job: string;
  rows: number;
  targetBinlog: boolean;
  /** Added as it is. */
  extra?: Record<string, unknown>;
}

export function printLine(options: LineOptions, drover: Side, peer: Side): void {
  const mine = rate(drover);
  const theirs = rate(peer);
  console.log(JSON.stringify({
    job: options.job,
    rows: options.rows,
    droverRowsPerSecond: mine,
    peer: peer.name,
    peerRowsPerSecond: theirs,
    ratio: mine === null || theirs === null ? null : round(mine / theirs),
    targetBinlog: options.targetBinlog,
    ...(peer.failure === undefined ? {} : { reason: peer.failure }),
    runs: Math.max(drover.figures.length, peer.figures.length),
    drover: detail(drover),
    peerDetail: detail(peer),
    ...options.extra,
  }));
}

/** Median of the runs, in rows per second. */
function rate(side: Side): number | null {
  return side.figures.length === 0 ? null : Math.round(median(side.figures.map((figure) => figure.rows / figure.seconds)));
}

function detail(side: Side): Record<string, unknown> {
  const names = [...new Set(side.figures.flatMap((figure) => Object.keys(figure.cpuSeconds)))];
  return {
    seconds: side.figures.map((figure) => round(figure.seconds)),
    othersCpuSeconds: side.figures.map((figure) => figure.othersCpuSeconds),
    cpuSeconds: Object.fromEntries(names.map((name) => [name, round(median(side.figures.map((figure) => figure.cpuSeconds[name] ?? 0)))])),
  };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}
