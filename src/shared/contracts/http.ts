/** What the HTTP API takes and gives beside the contracts that it shares with the command line. */
import { z } from "zod";
import { cutoverOptions } from "./cutover.js";
import { DIFF_STATES, diffOptions, diffReport, diffSchedule, diffScheduleSettings, newDiffId, scheduleName } from "./diff.js";
import { finding } from "./problem.js";
import { migrationStatus, PHASES } from "./status.js";
import { WAIT_PHASES } from "./wait.js";

/** A request that waits is answered after so many seconds at most: proxies cut longer ones off. */
const LONGEST_WAIT = 60;

const timeoutSeconds = z.number().min(0).max(LONGEST_WAIT).default(25).describe("the answer comes after so many seconds at the latest; ask again to wait longer");

export const startQuery = z.strictObject({ preflight: z.enum(["true", "false"]).default("true").describe("check both servers first") });

export const startResult = z.object({
  id: z.string(),
  known: z.enum(PHASES).nullable().describe("the phase of the migration when it was there already with the same spec: nothing was changed; null for a new one"),
  accepted: z.boolean().describe("false when no worker runs: the command stays queued, and the first worker takes it up"),
  warnings: z.array(finding),
});

export const checkResult = z.object({ ok: z.boolean(), problems: z.array(finding) });

export const migrationList = z.object({
  migrations: z.array(migrationStatus),
  unreachable: z.array(z.object({ connection: z.string(), message: z.string() })).describe("connections that could not be asked: their migrations are missing"),
});

export const waitRequest = z.strictObject({
  for: z.enum(WAIT_PHASES),
  position: z.string().min(1).nullable().default(null).describe("for caught-up: the source's position to wait for, from an answer before; default: where the source is now"),
  timeoutSeconds,
});

export const waitResult = z.object({
  reached: z.boolean(),
  position: z.string().nullable().describe("what caught-up waited for: send it with the next request"),
  status: migrationStatus,
});

/** A diff's options, and the id that it shall have. */
export const startDiffRequest = z.strictObject({ ...diffOptions.shape, diffId: newDiffId.optional().describe("the same id with the same options is the same diff: a request may be sent again when its answer was lost; default: a new one") });
export const startDiffResult = z.object({
  id: z.string(),
  diffId: z.string(),
  known: z.enum(DIFF_STATES).nullable().describe("the state of the diff when it was there already with the same options: nothing was changed; null for a new one"),
});
/** A query's values come as text. */
export const listDiffsQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
  state: z.enum(DIFF_STATES).optional().describe("only those in this state"),
});
export const diffList = z.object({ diffs: z.array(diffReport).describe("newest first, without samples") });

export const diffWaitRequest = z.strictObject({ timeoutSeconds });
export const diffWaitResult = z.object({ ended: z.boolean(), report: diffReport });

/** A schedule of diffs; the path names it. */
export const scheduleRequest = diffScheduleSettings.omit({ name: true });
export const scheduleList = z.object({ schedules: z.array(diffSchedule).describe("by name") });
/** A schedule that was ended. */
export const scheduleReference = z.object({ id: z.string(), name: scheduleName });

export const cutoverRequest = z.strictObject({ ...cutoverOptions.shape, dryRun: z.boolean().default(false).describe("only look") });

export const repairRequest = z.strictObject({ dryRun: z.boolean().default(false).describe("only say what would be changed") });
