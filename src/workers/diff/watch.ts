/**
 * Ends the work of diffs that were stopped or deleted, or that took longer than `maxDuration`: one look a second at the
 * state schema for all jobs of a process, so that nothing is left running (case 16) and no chunk has to look by itself.
 */
import { underAny } from "../../shared/abort.js";
import { every } from "../../shared/every.js";
import { DroverError } from "../../shared/errors.js";
import { isReleased } from "../../shared/state/cutovers.js";
import type { DiffState } from "../../shared/state/diff-state.js";
import { cutOverMeanwhile } from "../../shared/state/diffs.js";
import type { EngineContext, MigrationRef } from "../context.js";

const INTERVAL = 1_000;

/** What runs: the comparison, or the repair of a diff that has ended. */
type Activity = "diff" | "repair";

interface Watched {
  activity: Activity;
  ref: MigrationRef;
  diffId: string;
  users: number;
  controller: AbortController;
}

export class DiffWatch {
  private readonly context: EngineContext;
  private readonly state: DiffState;
  private readonly watched = new Map<string, Watched>();
  private end: (() => void) | undefined;

  constructor(context: EngineContext, state: DiffState) {
    this.context = context;
    this.state = state;
  }

  /** Runs `work` with a signal that also fires when the activity is to end. */
  async during<T>(activity: Activity, ref: MigrationRef, diffId: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const key = `${activity}/${ref.target}/${ref.migration}/${diffId}`;
    const entry = this.watched.get(key) ?? { activity, ref, diffId, users: 0, controller: new AbortController() };
    entry.users += 1;
    this.watched.set(key, entry);
    this.end ??= every(INTERVAL, () => this.look());
    try {
      return await underAny([signal, entry.controller.signal], work);
    } finally {
      entry.users -= 1;
      if (entry.users === 0 && this.watched.get(key) === entry) this.watched.delete(key);
      if (this.watched.size === 0) {
        this.end?.();
        this.end = undefined;
      }
    }
  }

  private async look(): Promise<void> {
    await Promise.all([...this.watched].map(async ([key, entry]) => {
      try {
        const { activity, ref, diffId, controller } = entry;
        const ended = await (activity === "diff" ? whyEnded : whyRepairEnded)(this.context, this.state, ref, diffId, controller.signal);
        if (ended === null || this.watched.get(key) !== entry) return;
        this.watched.delete(key);
        entry.controller.abort(new DroverError("ABORTED", ended));
      } catch (error) {
        // The state server is away: the work itself will notice.
        this.context.log.debug({ diff: entry.diffId, err: error }, "the state of a diff cannot be read now");
      }
    }));
  }
}

/** Why a diff's work should end; null while it should go on. Stops a diff whose time is over, or whose migration was cut over. */
export async function whyEnded(context: EngineContext, state: DiffState, ref: MigrationRef, diffId: string, signal: AbortSignal): Promise<string | null> {
  return await context.connections.use(ref.target, "target", signal, async (session) => {
    const diff = await state.diffs.read(session, ref.migration, diffId);
    if (diff === null) return "the diff was deleted";
    if (diff.state !== "running" && diff.state !== "pending") return `the diff is ${diff.state}`;
    const cutover = await context.state.cutovers.read(session, ref.migration);
    if (cutover !== null && isReleased(cutover)) {
      // One that was begun in the moment in which the cut-over stopped the others.
      const error = cutOverMeanwhile(ref.migration);
      await state.diffs.end(session, ref.migration, diffId, "stopped", error);
      return error.message;
    }
    if (!diff.overdue) return null;
    const reason = `the diff has run for its maxDuration of ${diff.options.maxDuration} ms; resume goes on where it stopped`;
    await state.diffs.end(session, ref.migration, diffId, "stopped", new DroverError("ABORTED", reason));
    return reason;
  });
}

async function whyRepairEnded(context: EngineContext, state: DiffState, ref: MigrationRef, diffId: string, signal: AbortSignal): Promise<string | null> {
  const diff = await context.connections.use(ref.target, "target", signal, (session) => state.diffs.read(session, ref.migration, diffId));
  if (diff === null) return "the diff was deleted";
  return diff.repairState === "pending" || diff.repairState === "running" ? null : "the repair was stopped";
}
