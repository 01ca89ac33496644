/** What a cut-over prints, made of what the state schema remembers. */
import { CUTOVER_STEPS, type CutoverOptions, type CutoverReport, type CutoverStep } from "../contracts/cutover.js";
import type { MigrationSpec } from "../contracts/spec.js";
import type { Finding } from "../preflight/finding.js";
import type { Cutover, CutoverFacts } from "./cutovers.js";

type Plan = CutoverReport["plan"];

/** The report of a cut-over that was begun. */
export function cutoverReportOf(spec: MigrationSpec, cutover: Cutover): CutoverReport {
  const { options, state, step, facts } = cutover;
  return {
    id: spec.id, state, ready: true, dryRun: false, options, problems: facts.findings,
    plan: planOf(spec, options, state === "completed" ? null : step),
    readOnly: facts.readOnlyBefore === null ? null : { before: facts.readOnlyBefore, undone: facts.readOnlyUndone },
    position: { source: facts.sourcePosition, target: facts.targetPosition },
    diffId: facts.diffId, left: facts.left, notes: [...facts.notes, ...(state === "undoing" ? undoNotes(facts) : [])],
    next: state === "completed" ? nextSteps(spec, options, facts) : state === "failed" ? afterFailure(spec) : state === "undoing" && facts.undoError !== null ? whileUndoing(spec, facts) : [],
    error: cutover.error, startedAt: cutover.startedAt, deadline: cutover.deadline, completedAt: cutover.completedAt,
  };
}

/** The report of a look. */
export function checkedReport(spec: MigrationSpec, options: CutoverOptions, problems: Finding[]): CutoverReport {
  const ready = problems.every((problem) => problem.severity !== "error");
  return {
    id: spec.id, state: "checked", ready, dryRun: true, options, problems, plan: planOf(spec, options, "catch-up", "pending"), readOnly: null, position: { source: null, target: null },
    diffId: null, left: [], notes: [], next: [ready ? `drover cutover ${spec.id}` : "cure what stands in the way, and look again"], error: null, startedAt: null, deadline: null, completedAt: null,
  };
}

/** The steps that the options ask for. */
function planOf(spec: MigrationSpec, options: CutoverOptions, current: CutoverStep | null, now: "running" | "pending" = "running"): Plan {
  const place = (step: CutoverStep) => CUTOVER_STEPS.indexOf(step);
  return CUTOVER_STEPS.flatMap((step) => {
    const does = describe(step, spec, options);
    if (does === null) return [];
    const state = current === null || place(step) < place(current) ? "done" : step === current ? now : "pending";
    return [{ step, does, state }];
  });
}

function describe(step: CutoverStep, spec: MigrationSpec, options: CutoverOptions): string | null {
  const { source, target } = spec;
  const kinds = spec.objects.filter((kind) => kind !== "events");
  switch (step) {
    case "catch-up": return `wait until ${target} is at most ${options.maxLag / 1000} s behind ${source}`;
    case "read-only": return options.readOnly ? `make ${source} read-only (put back should anything below fail)` : null;
    case "drain": return options.readOnly ? `wait until everything committed on ${source} is applied` : `wait until everything committed on ${source} is applied, and for a second without writes to its tables`;
    case "diff": return options.diff ? "compare all tables" : null;
    case "stop": return "stop following: from here on nothing writes to the target's tables";
    case "objects": return kinds.length === 0 ? null : `create or refresh ${kinds.join(", ")} on ${target}`;
    case "counters": return `carry AUTO_INCREMENT counters to ${target}`;
    case "complete": return "end the migration; before this everything can be taken back";
    case "events": return spec.objects.includes("events") ? `create events on ${target}` : null;
    case "reverse": return options.reverse === null ? null : `start the migration ${options.reverse} from ${target} back to ${source}`;
  }
}

function nextSteps(spec: MigrationSpec, options: CutoverOptions, facts: CutoverFacts): string[] {
  const { source, target, id } = spec;
  const steps = [`point the application to ${target}`];
  if (spec.objects.includes("events")) steps.push(`disable the events on ${source}: those on ${target} act now`);
  if (options.readOnly) steps.push(switchesOf(source, options, facts));
  if (options.reverse !== null) steps.push(`drover status ${options.reverse}: ${source} follows ${target}; to go back: drover cutover ${options.reverse} --read-only, then on ${source}: SET GLOBAL read_only=OFF`);
  steps.push(`drover remove ${id} forgets the migration; rows stay`);
  return steps;
}

/** Whom the source keeps out from now on. */
function switchesOf(source: string, { reverse }: CutoverOptions, { readOnlyBefore }: CutoverFacts): string {
  if (readOnlyBefore === null) return `${source} was read-only already and stays so`;
  const lifting = readOnlyBefore.superReadOnly === null ? "SET GLOBAL read_only=OFF" : "SET GLOBAL super_read_only=OFF, read_only=OFF";
  if (reverse === null) return `${source} stays read-only; to lift it: ${lifting}`;
  const why = readOnlyBefore.superReadOnly === null ? `${source} stays read-only` : `on ${source} read_only stays ON, and super_read_only is OFF, because ${reverse} writes there`;
  return `${why}: accounts with SUPER, CONNECTION_ADMIN or READ ONLY ADMIN can write there still, and must not while ${reverse} runs; do not lift read_only before`;
}

function undoNotes({ undoError }: CutoverFacts): string[] {
  return undoError === null ? [] : [`it could not be taken back yet (tried ${undoError.retries} times): ${undoError.message}`];
}

function whileUndoing({ source }: MigrationSpec, { readOnlyBefore, readOnlyUndone }: CutoverFacts): string[] {
  const byHand = readOnlyBefore === null || readOnlyUndone ? [] : [`${source} is read-only still; by hand: SET GLOBAL super_read_only=OFF; SET GLOBAL read_only=OFF`];
  return ["remove the cause: it is tried again until it is done", ...byHand];
}

function afterFailure(spec: MigrationSpec): string[] {
  const replaced = spec.options.existingTarget === "replace" && spec.objects.some((kind) => kind === "views" || kind === "routines");
  return [`nothing has changed: ${spec.target} follows ${spec.source} as before`, ...(replaced ? ["views and routines that were replaced on the target by then stay replaced"] : []), `remove the cause, then: drover cutover ${spec.id}`];
}
