/**
 * The payload of every job, per queue. Payloads hold names and ids only: no credentials, no rows (promise 6).
 * `target` is the connection whose state schema holds the migration.
 */
import { z } from "zod";
import { connectionName, migrationId, migrationSpec, parseContract } from "./spec.js";
import { cutoverOptions } from "./cutover.js";
import { diffId, diffOptions, diffScheduleSettings, newDiffId, scheduleName } from "./diff.js";

const migrationRef = { migration: migrationId, target: connectionName };

/** Queue `control`: the commands that other services may enqueue, and the reconciler's tick. The job's name is the command. */
export const controlJobs = {
  start: z.strictObject({ spec: migrationSpec }),
  pause: z.strictObject(migrationRef),
  resume: z.strictObject(migrationRef),
  stop: z.strictObject(migrationRef),
  remove: z.strictObject(migrationRef),
  "diff-start": z.strictObject({ ...migrationRef, diffId: newDiffId, options: diffOptions.prefault({}) }),
  "diff-stop": z.strictObject({ ...migrationRef, diffId }),
  "diff-resume": z.strictObject({ ...migrationRef, diffId }),
  "diff-delete": z.strictObject({ ...migrationRef, diffId }),
  "diff-repair": z.strictObject({ ...migrationRef, diffId, dryRun: z.boolean().default(false) }),
  "diff-schedule": z.strictObject({ ...migrationRef, ...diffScheduleSettings.shape }),
  "diff-unschedule": z.strictObject({ ...migrationRef, name: scheduleName.default("default") }),
  /** A turn of a schedule. */
  "diff-scheduled": z.strictObject({ ...migrationRef, schedule: scheduleName }),
  /** Looks whether a migration can be cut over, and begins with it unless `dryRun`. */
  cutover: z.strictObject({ ...migrationRef, dryRun: z.boolean().default(false), options: cutoverOptions.prefault({}) }),
  /** Takes a cut-over back that has not come to its point of no return. */
  "cutover-abort": z.strictObject(migrationRef),
  /** Goes on with a cut-over. */
  "cutover-advance": z.strictObject(migrationRef),
  /** Moves one migration on: plans, opens the window of chunk jobs, changes phase. */
  advance: z.strictObject(migrationRef),
  /** Compares the state schemas with the queues and heals the difference. */
  reconcile: z.strictObject({}),
} as const;
export type ControlJobName = keyof typeof controlJobs;

/** Queue `copy`. */
export const copyJobs = {
  plan: z.strictObject({ ...migrationRef, table: z.number().int() }),
  chunk: z.strictObject({ ...migrationRef, table: z.number().int(), chunk: z.number().int() }),
  index: z.strictObject({ ...migrationRef, table: z.number().int() }),
} as const;

/** Queues `tail` and `apply`: leases, one job of each per following migration. */
export const leaseJob = z.strictObject(migrationRef);
export type LeaseJob = z.output<typeof leaseJob>;

/** Queue `diff`. */
export const diffJobs = {
  /** Cuts the diff into chunks, or takes up an interrupted one. */
  prepare: z.strictObject({ ...migrationRef, diffId }),
  chunk: z.strictObject({ ...migrationRef, diffId, table: z.number().int(), chunk: z.number().int() }),
  repair: z.strictObject({ ...migrationRef, diffId, dryRun: z.boolean().default(false) }),
} as const;

/** Validates a job's payload by its queue's contract and its name. @throws DroverError SPEC_INVALID */
export function parseJob<C extends Record<string, z.ZodType>, N extends keyof C & string>(contracts: C, name: N, data: unknown): z.output<C[N]> {
  return parseContract(contracts[name] as C[N], data, `the payload of job "${name}"`);
}
