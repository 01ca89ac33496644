/** What `cutover` takes and prints. */
import { z } from "zod";
import { finding } from "./problem.js";
import { migrationId } from "./spec.js";
import { storedError } from "./status.js";

/** In their order; each may be done twice. After `complete` there is no way back. */
export const CUTOVER_STEPS = ["catch-up", "read-only", "drain", "diff", "stop", "objects", "counters", "complete", "events", "reverse"] as const;
export const cutoverStep = z.enum(CUTOVER_STEPS);
export type CutoverStep = z.output<typeof cutoverStep>;

/** milliseconds; who says that a cut-over may begin goes by it too. */
export const DEFAULT_MAX_LAG = 5_000;

export const cutoverOptions = z.strictObject({
  /** milliseconds; after it everything is undone and the migration streams on. */
  timeout: z.number().int().min(1).default(60_000),
  /** milliseconds */
  maxLag: z.number().int().min(0).default(DEFAULT_MAX_LAG),
  /** Makes the source read-only, and keeps it so when the cut-over succeeds. */
  readOnly: z.boolean().default(false),
  /** Compares all tables once more before the end. */
  diff: z.boolean().default(false),
  /** The id of a migration from the target back to the source, started where this one ends. */
  reverse: migrationId.nullable().default(null),
});
export type CutoverOptions = z.output<typeof cutoverOptions>;
export type CutoverOptionsInput = z.input<typeof cutoverOptions>;

/** The two switches as they stood before Drover turned them on; null where a server has no `super_read_only`. */
export const readOnlyBefore = z.strictObject({ readOnly: z.boolean(), superReadOnly: z.boolean().nullable() });
export type ReadOnlyBefore = z.output<typeof readOnlyBefore>;

export const cutoverReport = z.object({
  id: migrationId,
  /** `checked`: only looked (`--dry-run`). `undoing`: it failed, and what it had changed is being put back. `failed`: that is done. */
  state: z.enum(["checked", "running", "undoing", "completed", "failed"]),
  /** No problem of severity `error` stands in the way. */
  ready: z.boolean(),
  dryRun: z.boolean(),
  options: cutoverOptions,
  problems: z.array(finding),
  /** What is done, or would be, in order. */
  plan: z.array(z.object({ step: cutoverStep, does: z.string(), state: z.enum(["pending", "running", "done"]) })),
  /** What Drover did to the source's read-only switches; null when nothing. */
  readOnly: z.object({ before: readOnlyBefore, undone: z.boolean() }).nullable(),
  /** Positions at the end: all of the source that is on the target, and the target's own. */
  position: z.object({ source: z.string().nullable(), target: z.string().nullable() }),
  diffId: z.string().nullable(),
  /** What could not be done after the point of no return, and is left to people. */
  left: z.array(z.string()),
  /** Things to know. */
  notes: z.array(z.string()),
  /** What people do next. */
  next: z.array(z.string()),
  /** The latest error: retried while `running`, the reason when `failed`. */
  error: storedError.nullable(),
  startedAt: z.string().nullable(),
  deadline: z.string().nullable(),
  completedAt: z.string().nullable(),
});
export type CutoverReport = z.output<typeof cutoverReport>;
