/** The steps of a cut-over. Each returns where it leads, or null when it has to wait; see `advance.ts`. */
import { diffOptions } from "../../shared/contracts/diff.js";
import type { CutoverStep } from "../../shared/contracts/cutover.js";
import { proofOf } from "../../shared/diff-proof.js";
import { DroverError } from "../../shared/errors.js";
import { executedPosition, positionCovers } from "../../shared/mysql/position.js";
import type { Session } from "../../shared/mysql/session.js";
import { kindsOf } from "../../shared/objects/plan-objects.js";
import { DiffState } from "../../shared/state/diff-state.js";
import { cutOverMeanwhile } from "../../shared/state/diffs.js";
import { readDiffReport } from "../../shared/state/diff-report.js";
import type { Cutover, CutoverFacts } from "../../shared/state/cutovers.js";
import type { Fence } from "../../shared/state/fence.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { startMigration } from "../control/commands.js";
import { raiseCounters, readCounters } from "../target/auto-increment.js";
import { withDdlLock } from "../target/ddl-lock.js";
import { startDiff } from "../diff/index.js";
import { carryObjects } from "../objects/carry-objects.js";
import { lagOf } from "./lag.js";
import { carriedTriggers, dropOldTriggers, oldTriggers } from "./old-triggers.js";
import { admitAdministrators, closeSource, isClosed, readSwitches } from "./read-only.js";
import { reverseSpec } from "./reverse.js";
import type { CutoverRun } from "./run.js";

export interface StepScope {
  context: EngineContext;
  ref: MigrationRef;
  migration: Migration;
  cutover: Cutover;
  run: CutoverRun;
  /** What one worker remembers from look to look; nothing depends on it. */
  memory: Map<string, unknown>;
  signal: AbortSignal;
}

/** Where a step leads, with what is known by then; `recorded`: it has moved the state itself; null: it waits. A null step is the end. */
export type StepResult = { step: CutoverStep | null; facts: CutoverFacts } | "recorded" | null;

export const STEPS: Record<CutoverStep, (scope: StepScope) => Promise<StepResult>> = {
  "catch-up": catchUp, "read-only": makeReadOnly, drain, diff: compare, stop, objects: carry, counters, complete, events, reverse,
};

/** Without writes for this long the source counts as quiet, where Drover does not close it; milliseconds. */
const QUIET = 1_000;

async function catchUp(scope: StepScope): Promise<StepResult> {
  requireStreaming(scope);
  const { cutover: { options, facts } } = scope;
  const [source, fence] = [await onSource(scope, executedPosition), await readFence(scope)];
  return (lagOf(fence, source, Date.now()) ?? 0) <= options.maxLag ? { step: options.readOnly ? "read-only" : "drain", facts } : null;
}

/** What the switches were is recorded before they are touched; a second run keeps the first record. */
async function makeReadOnly(scope: StepScope): Promise<StepResult> {
  requireStreaming(scope);
  const { context, ref, cutover } = scope;
  let { facts } = cutover;
  if (facts.readOnlyBefore === null) {
    const before = await onSource(scope, readSwitches);
    if (isClosed(before)) return { step: "drain", facts: { ...facts, notes: [...facts.notes, `${scope.migration.spec.source} was read-only already`] } };
    facts = { ...facts, readOnlyBefore: before };
    await onTarget(scope, (session) => context.state.cutovers.setFacts(session, ref.migration, facts));
  }
  const closed = await onSource(scope, (source) => closeSource(source, () => onTarget(scope, (session) => isDue(scope, session))));
  return closed ? { step: "drain", facts } : null;
}

/**
 * Until everything that is committed is applied. Where nobody closed the source, until a second has gone by in which nothing of its
 * followed tables was written: that its writers were stopped is the word of whoever began this.
 */
async function drain(scope: StepScope): Promise<StepResult> {
  requireStreaming(scope);
  const { cutover: { options, facts }, memory } = scope;
  const seen = memory.get("drain") as { position: string; applied: number; at: number } | undefined;
  const fence = await readFence(scope);
  if (seen === undefined) {
    memory.set("drain", { position: await onSource(scope, executedPosition), applied: -1, at: Date.now() });
    return null;
  }
  if (fence === null || !positionCovers(fence.position, seen.position)) return null;
  const isQuiet = seen.applied === fence.appliedRows && Date.now() - seen.at >= QUIET;
  if (options.readOnly || isQuiet) {
    memory.delete("drain");
    return { step: options.diff ? "diff" : "stop", facts: { ...facts, sourcePosition: seen.position } };
  }
  if (seen.applied !== fence.appliedRows) memory.set("drain", { position: await onSource(scope, executedPosition), applied: fence.appliedRows, at: Date.now() });
  else memory.set("drain", { ...seen, position: await onSource(scope, executedPosition) });
  return null;
}

async function compare(scope: StepScope): Promise<StepResult> {
  requireStreaming(scope);
  const { context, ref, cutover: { facts }, run, signal } = scope;
  const diffId = facts.diffId ?? `cutover-${new Date().toISOString().replace(/\D/g, "").slice(0, 14)}`;
  if (facts.diffId === null) {
    await onTarget(scope, (session) => context.state.cutovers.setFacts(session, ref.migration, { ...facts, diffId }));
    await startDiff(context, ref, diffId, diffOptions.parse({}), signal);
    await run.ensureDiff(diffId);
    return null;
  }
  // A crash may have come between.
  await startDiff(context, ref, diffId, diffOptions.parse({}), signal);
  const report = await onTarget(scope, (session) => readDiffReport(session, context.state.schema, ref.migration, diffId));
  if (report.state === "failed" || report.state === "stopped") throw new DroverError("DIFF_FAILED", `the diff ${diffId} ${report.state === "stopped" ? "was stopped" : `failed: ${report.lastError?.message ?? ""}`}`);
  if (report.state !== "completed") return null;
  if (report.hasMismatch) throw new DroverError("DIFF_FAILED", `the diff ${diffId} found differences`, { cure: `drover diff show ${ref.migration} ${diffId}, then drover diff repair ${ref.migration} ${diffId}` });
  const { inconclusive } = proofOf(report, [], Date.now());
  return { step: "stop", facts: inconclusive === 0 ? facts : { ...facts, notes: [...facts.notes, `the diff ${diffId} could not tell of ${inconclusive} rows, which kept changing`] } };
}

/**
 * The follow ends. Under the DDL lock no statement is half executed; under the fence's lock no batch is. Closed or not, the source is
 * asked once more: a replica goes on writing while it is read-only.
 */
async function stop(scope: StepScope): Promise<StepResult> {
  requireStreaming(scope);
  const { context, ref, cutover: { options, facts }, signal } = scope;
  const { connections, state } = context;
  if (await wasReopened(scope)) return { step: "read-only", facts };
  const position = options.readOnly ? await onSource(scope, executedPosition) : (facts.sourcePosition ?? "");
  return await withDdlLock(context, ref, signal, async (session): Promise<StepResult> => {
    if ((await state.ddlJournal.read(session, ref.migration)) !== null) return null;
    return await connections.transaction(ref.target, "target", signal, async (transaction): Promise<StepResult> => {
      const fence = await state.fence.require(transaction, ref.migration, "update");
      const now = await state.cutovers.read(transaction, ref.migration, true);
      if (now?.state !== "running" || now.step !== "stop") return null;
      if (fence.partial || !positionCovers(fence.position, position)) {
        await state.cutovers.advance(transaction, ref.migration, "stop", "drain", facts);
        return "recorded";
      }
      if (!(await state.migrations.changePhase(transaction, ref.migration, ["streaming"], "paused"))) return null;
      // Whatever is under way finds another epoch in the fence and undoes itself (I3).
      await state.fence.bumpEpoch(transaction, ref.migration);
      // From now on the application may write here: what a diff has compared is recorded before, or not at all.
      const diffs = await new DiffState(state.schema).diffs.stopAll(transaction, ref.migration, cutOverMeanwhile(ref.migration));
      const notes = [...facts.notes, ...diffs.map((diffId) => `the diff ${diffId} was at work, and was stopped`)];
      await state.cutovers.advance(transaction, ref.migration, "stop", "objects", { ...facts, notes, sourcePosition: fence.position, stopped: true });
      return "recorded";
    });
  });
}

async function carry(scope: StepScope): Promise<StepResult> {
  const { context, ref, migration: { spec }, cutover: { facts }, signal } = scope;
  const kinds = kindsOf(spec.objects).filter((kind) => kind !== "event");
  const notes = await carryObjects(context, ref, { spec, kinds, isDue: (session) => isDue(scope, session) }, signal);
  return { step: "counters", facts: { ...facts, notes: [...facts.notes, ...notes] } };
}

async function counters(scope: StepScope): Promise<StepResult> {
  const { context, ref, cutover: { facts }, signal } = scope;
  const tables = await onTarget(scope, (session) => context.state.tables.list(session, ref.migration));
  const found = await onSource(scope, (session) => readCounters(session, tables.filter((table) => table.definition.columns.some((column) => column.autoIncrement))));
  await withDdlLock(context, ref, signal, async (session) => {
    if (await isDue(scope, session)) await raiseCounters(session, found);
  });
  return { step: "complete", facts };
}

/** No way back from here. The target's position is read before, behind everything that Drover writes to the application's tables. */
async function complete(scope: StepScope): Promise<StepResult> {
  const { context, ref, migration: { spec }, cutover: { facts, options }, run, signal } = scope;
  const { connections, state } = context;
  if (options.readOnly && ((await wasReopened(scope)) || !positionCovers(facts.sourcePosition ?? "", await onSource(scope, executedPosition))))
    throw new DroverError("MIGRATION_FAILED", `${spec.source} was written to after the follow had ended`, { cure: "see who lifted read_only there, or restarted it, and cut over again" });
  const targetPosition = options.reverse === null ? null : await onTarget(scope, executedPosition);
  const done = await connections.transaction(ref.target, "target", signal, async (session) => {
    await state.fence.require(session, ref.migration, "update");
    const now = await state.cutovers.read(session, ref.migration, true);
    if (now?.state !== "running" || now.step !== "complete" || now.overdue) return false;
    if (!(await state.migrations.changePhase(session, ref.migration, ["paused"], "completed"))) throw new DroverError("WRONG_PHASE", `migration ${ref.migration} is not where the cut-over left it`);
    await state.fence.bumpEpoch(session, ref.migration);
    return await state.cutovers.advance(session, ref.migration, "complete", "events", { ...facts, targetPosition });
  });
  if (!done) return null;
  await run.chain.clear();
  return "recorded";
}

async function events(scope: StepScope): Promise<StepResult> {
  const { context, ref, migration: { spec }, cutover: { facts }, signal } = scope;
  const kinds = kindsOf(spec.objects).filter((kind) => kind === "event");
  const notes = await carryObjects(context, ref, { spec, kinds, isDue: (session) => isDue(scope, session) }, signal);
  return { step: "reverse", facts: { ...facts, notes: [...facts.notes, ...notes] } };
}

async function reverse(scope: StepScope): Promise<StepResult> {
  const { context, ref, migration: { spec }, cutover: { options }, signal } = scope;
  let { facts } = scope.cutover;
  if (options.reverse === null || facts.targetPosition === null) return { step: null, facts };
  if (facts.readOnlyBefore !== null) await onSource(scope, admitAdministrators);
  const tables = await onTarget(scope, (session) => context.state.tables.list(session, ref.migration));
  if (spec.objects.includes("triggers")) facts = await dropTriggers(scope, tables, facts, options.reverse);
  await startMigration(context, reverseSpec(options.reverse, spec, tables, facts.targetPosition ?? "").input, signal);
  return { step: null, facts };
}

/** Told before it is done: a second run finds none left. */
async function dropTriggers(scope: StepScope, tables: readonly MigrationTable[], facts: CutoverFacts, back: string): Promise<CutoverFacts> {
  const { context, ref, migration: { spec } } = scope;
  const carried = await onTarget(scope, (session) => context.state.objects.list(session, ref.migration));
  const old = carriedTriggers(await onSource(scope, (session) => oldTriggers(session, tables)), tables, carried);
  if (old.length === 0) return facts;
  const names = old.map(({ schema, name }) => `${schema}.${name}`).join(", ");
  const told = { ...facts, notes: [...facts.notes, `dropped on ${spec.source}, where they would act on what ${back} writes: the triggers ${names}; they are on ${spec.target}, and the cut-over of ${back} creates them on ${spec.source} again`] };
  await onTarget(scope, (session) => context.state.cutovers.setFacts(session, ref.migration, told));
  await onSource(scope, (session) => dropOldTriggers(session, old));
  return told;
}

function requireStreaming({ migration: { id, phase, error } }: StepScope): void {
  if (phase !== "streaming") throw new DroverError("MIGRATION_FAILED", `migration ${id} is ${phase}, not streaming any more${error === null ? "" : `: ${error.message}`}`);
}

/** A server that restarts forgets that it was read-only. */
async function wasReopened(scope: StepScope): Promise<boolean> {
  return scope.cutover.facts.readOnlyBefore !== null && !isClosed(await onSource(scope, readSwitches));
}

/** Asked under the DDL lock. */
async function isDue({ context, ref, cutover }: StepScope, session: Session): Promise<boolean> {
  const now = await context.state.cutovers.read(session, ref.migration);
  return now?.state === "running" && now.step === cutover.step;
}

function readFence(scope: StepScope): Promise<Fence | null> {
  return onTarget(scope, (session) => scope.context.state.fence.read(session, scope.ref.migration));
}

function onSource<T>({ context, migration, signal }: StepScope, work: (session: Session) => Promise<T>): Promise<T> {
  return context.connections.use(migration.spec.source, "source", signal, work);
}

function onTarget<T>({ context, ref, signal }: StepScope, work: (session: Session) => Promise<T>): Promise<T> {
  return context.connections.use(ref.target, "target", signal, work);
}
