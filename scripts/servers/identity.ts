import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * What tells a process from a later one of the same pid: its start time. Undefined when there is no such process.
 * Linux: field 22 of /proc/PID/stat, in clock ticks since boot. Elsewhere: ps, in whole seconds.
 */
export function processIdentity(pid: number): string | undefined {
  if (process.platform !== "linux") {
    const started = spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).stdout;
    return started.replaceAll(/\s/g, "") || undefined;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // the name in brackets may hold spaces and brackets of its own, so count from the last one
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
