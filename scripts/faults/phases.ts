/** The phases in which a fault strikes: how to get there, and how to tell that work goes on again. */
import { setTimeout as sleep } from "node:timers/promises";
import { countsOf } from "../diff-proof/counts.js";
import type { Held } from "./held.js";
import type { Rig } from "./rig.js";
import type { Random } from "./random.js";

export const PHASES = ["planning", "copying", "catching-up", "streaming", "diff"] as const;
export type PhaseName = (typeof PHASES)[number];

export const MIGRATION = "m";

/** Waits until the run is in the phase. */
export async function reach(phase: PhaseName, rig: Rig, random: Random): Promise<void> {
  if (phase === "planning") return await sleep(random.below(300));
  if (phase === "copying") {
    await until(async () => (await chunksDone(rig)) >= 3 + random.below(8), 60_000, "the copy to begin");
    return;
  }
  if (phase === "catching-up") {
    await until(async () => ["catching-up", "streaming"].includes(await phaseOf(rig)), 120_000, "catching-up");
    return;
  }
  await until(async () => (await phaseOf(rig)) === "streaming", 120_000, "streaming");
  if (phase === "streaming") return await sleep(500 + random.below(1_000));
  await rig.client.startDiff(MIGRATION, {});
  await until(async () => (await diffChunksDone(rig)) > 0, 60_000, "the diff to begin");
}

/**
 * Waits until the work that the fault hit has been done, by whomever. In the follow that is everything committed up to half a
 * second after the blow: what the dead had read already would be applied without anybody taking over.
 */
export async function recovered(phase: PhaseName, rig: Rig, chunks: Held["chunks"]): Promise<void> {
  if (phase === "planning") return await until(async () => (await phaseOf(rig)) !== "planning" && (await chunksDone(rig)) > 0, 120_000, "the copy to begin");
  if (phase === "copying" || phase === "diff") {
    // A table that started over has new chunks of the same numbers: then the old ones are gone, and that counts as done.
    const open = `SELECT 1 FROM @state.${phase === "diff" ? "diff_chunks" : "chunks"} AS c JOIN @state.tables AS t ON t.migration=c.migration AND t.number=c.table_number
      WHERE c.state='pending' AND (c.table_number, c.number, t.generation) IN (${chunks.map((c) => `(${c.table},${c.number},${c.generation})`).join(",") || "(0,0,0)"})`;
    return await until(async () => (await rig.state(open)).length === 0, 120_000, "the chunks under way");
  }
  await sleep(500);
  const position = await rig.sourcePosition();
  await until(async () => await applied(rig, position), 120_000, "what was committed around the fault to be applied");
}

/** What the interrupted diff says in its end, where both sides were equal all the time; nothing when that is what it says. */
export async function wrongVerdict(rig: Rig): Promise<string[]> {
  await until(async () => (await rig.client.listDiffs(MIGRATION)).every((diff) => diff.state !== "pending" && diff.state !== "running"), 120_000, "the diff to end");
  return (await rig.client.listDiffs(MIGRATION)).filter((diff) => diff.state !== "completed" || diff.hasMismatch).map((diff) => {
    const { mismatched, missing, extra } = countsOf(diff);
    return `the diff ended ${diff.state} with ${mismatched} mismatched, ${missing} missing and ${extra} extra rows${diff.lastError === null ? "" : `: ${diff.lastError.message}`}`;
  });
}

export async function applied(rig: Rig, position: string): Promise<boolean> {
  const rows = await rig.state<{ ok: number }>(`SELECT GTID_SUBSET('${position}', position) AS ok FROM @state.fence WHERE migration='${MIGRATION}'`);
  return rows[0]?.ok === 1;
}

async function phaseOf(rig: Rig): Promise<string> {
  const rows = await rig.state<{ phase: string; error: string | null }>(`SELECT phase, error FROM @state.migrations WHERE id='${MIGRATION}'`);
  if (rows[0]?.phase === "failed") throw new Error(`the migration failed: ${rows[0].error}`);
  return rows[0]?.phase ?? "none";
}

async function chunksDone(rig: Rig): Promise<number> {
  const rows = await rig.state<{ n: number }>("SELECT COUNT(*) AS n FROM @state.chunks WHERE state='done'");
  return Number(rows[0]?.n ?? 0);
}

async function diffChunksDone(rig: Rig): Promise<number> {
  const rows = await rig.state<{ n: number }>("SELECT COUNT(*) AS n FROM @state.diff_chunks WHERE state<>'pending'");
  return Number(rows[0]?.n ?? 0);
}

/** Polls; a server that is away counts as "not yet". @throws when it takes longer than `patience` milliseconds */
export async function until(done: () => Promise<boolean>, patience: number, what: string): Promise<void> {
  const deadline = Date.now() + patience;
  let last = "";
  while (Date.now() < deadline) {
    try {
      if (await done()) return;
      last = "";
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
      if (last.startsWith("the migration failed")) throw error;
    }
    await sleep(50);
  }
  throw new Error(`waited ${patience} ms for ${what}${last === "" ? "" : ` (${last})`}`);
}
