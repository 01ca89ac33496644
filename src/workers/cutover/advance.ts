/**
 * Goes on with a cut-over, wherever it was left.
 *
 *     running: catch-up ▶ read-only ▶ drain ▶ diff ▶ stop ▶ objects ▶ counters ▶ complete ▶ events ▶ reverse ▶ (completed)
 *                 └──────────────── error, deadline, abort ─────────────┘        │
 *                                        ▼                                no way back: what fails from here on
 *                                     undoing ▶ (failed)                  is noted, the rest is done
 *
 * A step looks at the state, does its work, and moves the state to the next step by compare-and-set. Each may be done twice. What a step
 * changes elsewhere (the source's switches, the phase, triggers) is recorded before it is done, so that it can be taken back whoever dies.
 */
import { sleep } from "../../shared/abort.js";
import { backoffDelay } from "../../shared/backoff.js";
import { DroverError } from "../../shared/errors.js";
import type { Cutover } from "../../shared/state/cutovers.js";
import { codedError } from "../coded-error.js";
import type { EngineContext, MigrationRef } from "../context.js";
import type { CutoverRun } from "./run.js";
import { STEPS, type StepScope } from "./steps.js";
import { undoCutover } from "./undo.js";

/** Between two looks at what is waited for, in milliseconds. */
const LOOK = 200;
/** Between two tries of what failed. Short, for the deadline is looked at only between them. */
const PAUSE = { first: LOOK, cap: 2_000 };
/** Behind the point of no return, when the deadline is over: a step that failed as often is left to people. */
const LAST_TRIES = 10;

/** @returns `again` when the lease is over before the cut-over is */
export async function advanceCutover(context: EngineContext, ref: MigrationRef, run: CutoverRun, signal: AbortSignal): Promise<"again" | "ended"> {
  const memory = new Map<string, unknown>();
  for (const end = Date.now() + run.lease; Date.now() < end; ) {
    const cutover = await readCutover(context, ref, signal);
    if (cutover === null || cutover.state === "completed" || cutover.state === "failed") return "ended";
    if (cutover.state === "undoing") await takeBack(context, ref, cutover, signal);
    else if (cutover.overdue && !isPastReturn(cutover)) await giveUp(context, ref, tooLate(cutover), signal);
    else if ((await attempt(context, ref, cutover, run, memory, signal)) === "waits") await sleep(LOOK, signal);
  }
  return "again";
}

/** Taken back is everything, however often it must be tried: somebody waits to write on the source. Why it does not work is told meanwhile. */
async function takeBack(context: EngineContext, ref: MigrationRef, cutover: Cutover, signal: AbortSignal): Promise<void> {
  try {
    await undoCutover(context, ref, cutover, signal);
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const error = codedError(thrown);
    context.log.warn({ migration: ref.migration, step: cutover.step, code: error.code, errno: error.errno, message: error.message }, "a cut-over could not be taken back yet");
    const retries = await context.connections.use(ref.target, "target", signal, (session) => context.state.cutovers.recordUndoError(session, ref.migration, error));
    await sleep(backoffDelay(retries, PAUSE), signal);
  }
}

async function attempt(context: EngineContext, ref: MigrationRef, cutover: Cutover, run: CutoverRun, memory: Map<string, unknown>, signal: AbortSignal): Promise<"moved" | "waits"> {
  const { connections, state, hooks } = context;
  const { step } = cutover;
  try {
    const migration = await connections.use(ref.target, "target", signal, (session) => state.migrations.require(session, ref.migration));
    const scope: StepScope = { context, ref, migration, cutover, run, memory, signal };
    await hooks.at("cutover:step", { migration: ref.migration, step });
    const next = await STEPS[step](scope);
    if (next === null) return "waits";
    await hooks.at("cutover:after-step", { migration: ref.migration, step });
    if (next !== "recorded") {
      await connections.use(ref.target, "target", signal, async (session) => {
        if (next.step === null) await state.cutovers.complete(session, ref.migration, next.facts);
        else await state.cutovers.advance(session, ref.migration, step, next.step, next.facts);
      });
    }
    return "moved";
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const error = codedError(thrown);
    context.log.warn({ migration: ref.migration, step, code: error.code, errno: error.errno, message: error.message }, "a step of the cut-over failed");
    const tries = (cutover.error?.retries ?? 0) + 1;
    if (error.kind === "retryable" && !(isPastReturn(cutover) && cutover.overdue && tries >= LAST_TRIES)) {
      await connections.use(ref.target, "target", signal, (session) => state.cutovers.recordError(session, ref.migration, error));
      // Not by the job's own backoff: the deadline is looked at meanwhile.
      await sleep(backoffDelay(tries, PAUSE), signal);
      return "moved";
    }
    if (isPastReturn(cutover)) await passOver(context, ref, cutover, error, signal);
    else await giveUp(context, ref, error, signal);
    return "moved";
  }
}

/** The step that ended the migration lies behind. */
function isPastReturn({ step }: Cutover): boolean {
  return step === "events" || step === "reverse";
}

/** What cannot be done any more is told, and the rest is done. */
async function passOver(context: EngineContext, ref: MigrationRef, { step, facts }: Cutover, error: DroverError, signal: AbortSignal): Promise<void> {
  const { connections, state } = context;
  const told = { ...facts, left: [...facts.left, `not done (${step}): ${error.message}${error.cure === undefined ? "" : ` (${error.cure})`}`] };
  await connections.use(ref.target, "target", signal, async (session) => {
    if (step === "events") await state.cutovers.advance(session, ref.migration, "events", "reverse", told);
    else await state.cutovers.complete(session, ref.migration, told);
  });
}

async function giveUp(context: EngineContext, ref: MigrationRef, reason: DroverError, signal: AbortSignal): Promise<void> {
  await context.connections.use(ref.target, "target", signal, (session) => context.state.cutovers.giveUp(session, ref.migration, reason));
}

async function readCutover(context: EngineContext, ref: MigrationRef, signal: AbortSignal): Promise<Cutover | null> {
  return await context.connections.use(ref.target, "target", signal, (session) => context.state.cutovers.read(session, ref.migration));
}

function tooLate({ step, options, error }: Cutover): DroverError {
  const why = error === null ? WAITS_FOR[step] : error.message;
  return new DroverError("TIMEOUT", `not done after ${options.timeout / 1000} s, at the step ${step}${why === undefined ? "" : `: ${why}`}`, { cure: "allow more time by --timeout, or remove what it waited for" });
}

const WAITS_FOR: Partial<Record<Cutover["step"], string>> = {
  "catch-up": "the target did not catch up",
  drain: "writes on the source did not end",
  stop: "writes on the source did not end",
  diff: "the comparison did not end",
};
