/** Where a tail begins: at the chain's tip when the chain fits the fence and Redis is still the same, else at the fence with a new chain. */
import type { BacklogChain, Tip } from "../../shared/backlog/chain.js";
import type { Fence } from "../../shared/state/fence.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { EngineContext, MigrationRef } from "../context.js";

export interface Beginning {
  migration: Migration;
  tables: MigrationTable[];
  tip: Tip;
}

/** Null when there is nothing to follow at present, or a statement at the end of the chain must be executed first. */
export async function readBeginning(context: EngineContext, ref: MigrationRef, chain: BacklogChain, signal: AbortSignal): Promise<Beginning | null> {
  const { connections, state } = context;
  // The chain is read before the fence: the fence moves along the chain, never the other way round.
  const tip = await chain.tip();
  const { batches } = await chain.size();
  const run = await chain.run();
  // The tables are read after the fence: definitions change together with it, so these are never older than it.
  const { migration, tables, fence } = await connections.use(ref.target, "target", signal, async (session) => ({
    fence: await state.fence.read(session, ref.migration),
    migration: await state.migrations.require(session, ref.migration),
    tables: await state.tables.list(session, ref.migration),
  }));
  if (!isFollowing(migration) || fence === null) return null;
  // The statement at the end of the chain was not executed yet.
  if (tip?.barrier === true && batches > 0 && tip.epoch === fence.epoch && tip.seq > fence.seq) return null;
  if (tip !== null && tip.run === run && fits(tip, batches, fence)) return { migration, tables, tip };
  return await beginAnew(context, ref, chain, signal);
}

/**
 * A new chain needs a new epoch: an applier may still hold a batch of the old one in memory, cut differently, and its `seq` and
 * position may be the new one's. The lock waits for a commit under way; what comes after it is void.
 */
async function beginAnew(context: EngineContext, ref: MigrationRef, chain: BacklogChain, signal: AbortSignal): Promise<Beginning | null> {
  const { connections, state } = context;
  const begin = await connections.transaction(ref.target, "target", signal, async (session) => {
    await state.fence.require(session, ref.migration, "update");
    await state.fence.bumpEpoch(session, ref.migration);
    return {
      fence: await state.fence.require(session, ref.migration),
      migration: await state.migrations.require(session, ref.migration),
      tables: await state.tables.list(session, ref.migration),
    };
  });
  const { migration, tables, fence } = begin;
  if (!isFollowing(migration)) return null;
  return { migration, tables, tip: await chain.reset({ epoch: fence.epoch, seq: fence.seq, position: fence.position }) };
}

export function isFollowing({ spec, phase }: Migration): boolean {
  return spec.mode !== "copy" && (phase === "copying" || phase === "catching-up" || phase === "streaming");
}

function fits(tip: Tip, batches: number, fence: Fence): boolean {
  if (tip.epoch !== fence.epoch || tip.seq < fence.seq) return false;
  return batches > 0 ? tip.seq > fence.seq || tip.position === fence.position : tip.seq === fence.seq && tip.position === fence.position;
}
