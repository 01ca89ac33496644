/** CPU and memory of processes of this machine, from /proc; absent where a server is not a process of ours. */
import { readFileSync } from "node:fs";

export type Processes = Record<string, readonly (number | undefined)[]>;

export interface Usage {
  seconds: number;
  /** CPU seconds by name, user and system. */
  cpuSeconds: Record<string, number>;
  /** CPU seconds of everything else on this machine meanwhile: with much of it the figure says little. */
  othersCpuSeconds: number;
}

/** Ticks of /proc/PID/stat are hundredths of a second on every Linux that Node runs on. */
const TICKS = 100;

/** Starts a stopwatch; the answer reads it. */
export function measure(processes: Processes): () => Usage {
  const start = performance.now();
  const before = cpuOf(processes);
  const allBefore = machineCpuSeconds();
  return () => {
    const seconds = (performance.now() - start) / 1000;
    const after = cpuOf(processes);
    const cpuSeconds = Object.fromEntries(Object.entries(after).map(([name, value]) => [name, round(value - (before[name] ?? 0))]));
    const ours = Object.values(cpuSeconds).reduce((sum, value) => sum + value, 0);
    return { seconds, cpuSeconds, othersCpuSeconds: round(Math.max(0, machineCpuSeconds() - allBefore - ours)) };
  };
}

/** The most memory that any of the processes ever held, in MB. */
export function maxRssMb(pids: readonly (number | undefined)[]): number {
  return Math.round(Math.max(0, ...pids.map((pid) => Number(/VmHWM:\s+(\d+) kB/.exec(procOf(pid, "status"))?.[1] ?? 0))) / 1024);
}

function cpuOf(processes: Processes): Record<string, number> {
  const sum = (pids: readonly (number | undefined)[]) => pids.reduce<number>((total, pid) => total + cpuSeconds(pid), 0);
  return Object.fromEntries(Object.entries(processes).map(([name, pids]) => [name, sum(pids)]));
}

function cpuSeconds(pid: number | undefined): number {
  const text = procOf(pid, "stat");
  // the command's name may hold spaces and parentheses; utime and stime are the 12th and 13th field behind it
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS;
}

/** Time that any core was not idle: user, nice, system, irq, softirq. */
function machineCpuSeconds(): number {
  const fields = (proc("stat").split("\n")[0] ?? "").trim().split(/\s+/).map(Number);
  return [1, 2, 3, 6, 7].reduce((sum, i) => sum + (fields[i] ?? 0), 0) / TICKS;
}

function procOf(pid: number | undefined, file: string): string {
  return pid === undefined ? "" : proc(`${pid}/${file}`);
}

function proc(file: string): string {
  try {
    return readFileSync(`/proc/${file}`, "utf8");
  } catch {
    return "";
  }
}

export function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}
