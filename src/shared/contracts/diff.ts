/** What `diff` takes and prints: contract §Diff. */
import { z } from "zod";
import { connectionName } from "./spec.js";
import { errorRecordContract, storedError, timestamp } from "./status.js";

export const DIFF_STATES = ["pending", "running", "stopped", "completed", "failed"] as const;
export type DiffState = (typeof DIFF_STATES)[number];

export const diffId = z.string().regex(/^[a-z0-9_-]{1,64}$/, "expected 1 to 64 of a-z, 0-9, _ and -");

/** Of a diff that is to be started: `last` would never be found by its name. */
export const newDiffId = diffId.refine((id) => id !== "last", "`last` stands for the newest diff, and is the id of none");

export const diffOptions = z.strictObject({
  /** `schema.table` names of the source; empty means all of the migration. */
  tables: z.array(z.string()).default([]),
  where: z.string().min(1).nullable().default(null),
  maxSamples: z.number().int().min(0).max(10_000).default(10),
  maxRows: z.number().int().min(1).nullable().default(null),
  /** milliseconds */
  maxDuration: z.number().int().min(1).nullable().default(null),
  onlyKeys: z.boolean().default(false),
  /** Failures of one chunk, or of planning in a row, before it is given up. */
  maxAttempts: z.number().int().min(1).default(20),
  /** No chunk begins while more threads than this run on the source. */
  maxThreadsRunning: z.number().int().min(1).default(64),
  /** A connection to a replica of the source: no chunk begins while it lags. */
  replica: connectionName.nullable().default(null),
  /** milliseconds */
  maxReplicaLag: z.number().int().min(0).default(5_000),
});
export type DiffOptions = z.output<typeof diffOptions>;
export type DiffOptionsInput = z.input<typeof diffOptions>;

/** Names of its diffs begin with it, so it leaves room for the time. */
export const scheduleName = z.string().regex(/^[a-z0-9_-]{1,40}$/, "expected 1 to 40 of a-z, 0-9, _ and -");

export const diffScheduleSettings = z.strictObject({
  name: scheduleName.default("default"),
  /** milliseconds */
  every: z.number().int().min(1_000),
  /** Finished diffs of the schedule that are kept. */
  keep: z.number().int().min(1).max(1_000).default(10),
  options: diffOptions.prefault({}),
});
export type DiffScheduleInput = z.input<typeof diffScheduleSettings>;

export const diffSchedule = z.object({
  id: z.string().describe("the migration"),
  name: z.string(),
  every: z.number().int().describe("milliseconds"),
  keep: z.number().int(),
  options: diffOptions,
  lastDiffId: z.string().nullable(),
  lastStartedAt: timestamp.nullable(),
  nextAt: timestamp,
});
export type DiffSchedule = z.output<typeof diffSchedule>;

const count = z.number().int().nonnegative();
const values = z.record(z.string(), z.string().nullable()).nullable();

export const diffSample = z.object({
  kind: z.enum(["mismatched", "missingOnTarget", "extraOnTarget", "inconclusive"]),
  key: z.record(z.string(), z.string()),
  columns: z.array(z.string()).describe("names of the columns that differ"),
  values: z.object({ source: values, target: values }).exactOptional().describe("only with --show-values"),
});
export type DiffSample = z.output<typeof diffSample>;

export const diffTableReport = z.object({
  source: z.string().describe("schema.table"),
  target: z.string().describe("schema.table"),
  state: z.enum(DIFF_STATES),
  rowsCompared: count,
  matching: count,
  mismatched: count,
  missingOnTarget: count,
  extraOnTarget: count,
  inconclusive: count.describe("rows that kept changing while they were compared"),
  samples: z.array(diffSample),
  notes: z.array(z.string()).exactOptional().describe("exceptions of the comparison by bytes that concern this table's columns"),
});
export type DiffTableReport = z.output<typeof diffTableReport>;

export const diffReport = z.object({
  id: z.string(),
  diffId: z.string(),
  state: z.enum(DIFF_STATES),
  hasMismatch: z.boolean(),
  limited: z.boolean().describe("it looks at a part of the rows only: where, maxRows or maxDuration was given"),
  tables: z.array(diffTableReport),
  attempts: count,
  lastError: storedError.nullable(),
  startedAt: timestamp,
  completedAt: timestamp.nullable(),
  progress: z.object({ percent: z.number(), etaSeconds: z.number().nullable() }),
});
export type DiffReport = z.output<typeof diffReport>;

export const REPAIR_STATES = ["pending", "running", "completed", "failed"] as const;

/** What a repair does to one row: its key and the statement, with `?` in the place of every value. */
const repairAction = z.object({ table: z.string(), action: z.enum(["replace", "delete"]), key: z.record(z.string(), z.string()), statement: z.string() });

/** What a repair did, or would do. */
export const repairReport = z.object({
  id: z.string(),
  diffId: z.string(),
  dryRun: z.boolean(),
  state: z.enum(REPAIR_STATES),
  repaired: count.describe("rows made equal"),
  equal: count.describe("rows that had become equal by themselves"),
  inconclusive: count.describe("rows that kept changing: the next diff tells"),
  refused: count.describe("rows that the target refused"),
  actions: z.array(repairAction).describe("bounded; actionsLeftOut counts the rest"),
  actionsLeftOut: count,
  error: errorRecordContract.nullable(),
  startedAt: timestamp,
  completedAt: timestamp.nullable(),
});
