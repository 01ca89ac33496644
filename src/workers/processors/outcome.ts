/** From an engine's error to BullMQ's outcome: the one place where kinds of errors decide what happens to a job. */
import { DelayedError, UnrecoverableError, WaitingError, type Job } from "bullmq";
import { linkedSignal } from "../../shared/abort.js";
import { backoffDelay } from "../../shared/backoff.js";
import { DroverError, errorRecord } from "../../shared/errors.js";
import { encodeJobError } from "../../shared/job-error.js";
import { codedError } from "../coded-error.js";
import type { MigrationRef } from "../context.js";
import type { ProcessorContext } from "./context.js";

export type JobFunction = (job: Job, token?: string, signal?: AbortSignal) => Promise<unknown>;

/** Thrown by a processor to be called again at once, by whichever worker is free: the next lease. */
export class NextLease extends Error {}

/** Thrown by a processor that has recorded the error itself: the job comes again whatever the error's kind, for its state says whether anything is due. */
export class ComeAgain extends Error {
  readonly error: DroverError;

  constructor(error: DroverError) {
    super(error.message, { cause: error });
    this.error = error;
  }
}

/** How long a job pauses before it tries again, by how often it failed in a row in this process. */
const RETRY = { first: 200, cap: 5_000 };
/**
 * A worker that lost a server leaves the job to others for this long: perhaps it is this host that is cut off. Alone, it
 * tries again after that. Milliseconds.
 */
const STEP_BACK = 3_000;
/** From this attempt on that met a server's limit, it is told. */
const LIMIT_ATTEMPTS = 4;
const STEP_BACK_LOOK = 150;
const STEP_BACK_ON: ReadonlySet<string> = new Set(["CONNECTION_LOST", "SERVER_UNAVAILABLE", "CONFIG_INVALID"]);
/** Jobs whose failures are remembered, the latest: others finish most of them, and nobody tells us. */
const MOST_REMEMBERED = 10_000;
/** milliseconds */
const LONG_RUN = 10_000;

/**
 * Wraps a processor. `refOf` names the migration that an error is recorded for; null for jobs of no migration.
 * The inner function's signal fires when the job's lock is lost, when it is cancelled, and when this process ends.
 * `patience` says for how many milliseconds after it was sent a job is retried; then its last error is its answer.
 */
export function guarded(context: ProcessorContext, refOf: (job: Job) => MigrationRef | null, work: (job: Job, signal: AbortSignal) => Promise<unknown>, patience: (job: Job) => number = () => Infinity): JobFunction {
  const failures = new Map<string, number>();
  const stepBackUntil = new Map<string, number>();
  return async (job, token, jobSignal) => {
    const { signal, release } = linkedSignal(context.shutdown, jobSignal);
    const key = job.id ?? "";
    const begun = Date.now();
    try {
      if (Date.now() < (stepBackUntil.get(key) ?? 0)) {
        await job.moveToDelayed(Date.now() + STEP_BACK_LOOK, token);
        throw new DelayedError();
      }
      stepBackUntil.delete(key);
      const result = await work(job, signal);
      failures.delete(key);
      return result;
    } catch (thrown) {
      if (thrown instanceof DelayedError) throw thrown;
      if (thrown instanceof NextLease) {
        failures.delete(key);
        await job.moveToWait(token);
        throw new WaitingError();
      }
      const error = thrown instanceof ComeAgain ? thrown.error : asDroverError(thrown, signal);
      const ref = refOf(job);
      // Removed meanwhile, or begun anew under the same id: this job was of one that is no more.
      if (ref && error.code === "NOT_FOUND") return { void: true };
      if (error.kind === "aborted") {
        // Ending cleanly: the job goes back, so that another worker takes it up at once instead of after a stall.
        if (!context.shutdown.aborted) throw error;
        await job.moveToWait(token);
        throw new WaitingError();
      }
      // A lease that worked for a while before it failed has made progress: its backoff begins anew.
      if (Date.now() - begun > LONG_RUN) failures.delete(key);
      const attempt = (failures.get(key) ?? 0) + 1;
      remember(failures, key, attempt);
      if (STEP_BACK_ON.has(error.code)) remember(stepBackUntil, key, Date.now() + STEP_BACK);
      return await settle(context, job, token, { ref, error, attempt, comesAgain: thrown instanceof ComeAgain, overdue: Date.now() - job.timestamp > patience(job) });
    } finally {
      release();
    }
  };
}

function remember(map: Map<string, number>, key: string, value: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > MOST_REMEMBERED) map.delete(map.keys().next().value as string);
}

interface Failure {
  ref: MigrationRef | null;
  error: DroverError;
  /** Failures in a row, this one among them. */
  attempt: number;
  comesAgain: boolean;
  overdue: boolean;
}

async function settle(context: ProcessorContext, job: Job, token: string | undefined, { ref, error, attempt, comesAgain, overdue }: Failure): Promise<never> {
  context.metrics.jobError(job.queueName, error.code);
  const detail = { queue: job.queueName, job: job.name, id: job.id, migration: ref?.migration, attempt, code: error.code, errno: error.errno };
  // A worker without a connection, or with a wrong one, must not end a migration that others can work on.
  if (comesAgain || (error.kind === "retryable" && !overdue) || (ref && error.code === "CONFIG_INVALID")) {
    // Somebody else was faster: that is how the protocol works, and nothing to look at.
    // A limit that keeps work waiting for a moment does what it is for.
    const ordinary = error.code === "FENCE_MOVED" || (error.code === "LIMIT_REACHED" && attempt < LIMIT_ATTEMPTS);
    context.log[ordinary ? "debug" : "warn"]({ ...detail, message: error.message }, "will be tried again");
    if (ref && !ordinary) context.errors.record(ref, error);
    // Of a command: for whoever waits for the answer, and in Bull Board.
    if (!ref && job.queueName === "control") await job.updateProgress({ ...errorRecord(error) });
    await job.moveToDelayed(Date.now() + backoffDelay(attempt, RETRY), token);
    throw new DelayedError();
  }
  context.log.error({ ...detail, message: error.message, ...(error.code === "BUG" ? { err: error.cause ?? error } : {}) }, "cannot go on");
  if (ref) {
    try {
      await context.errors.fail(ref, error);
    } catch (saveError) {
      context.log.warn({ ...detail, err: saveError }, "the failure could not be recorded yet");
      await job.moveToDelayed(Date.now() + backoffDelay(attempt, RETRY), token);
      throw new DelayedError();
    }
  }
  throw new UnrecoverableError(encodeJobError(error));
}

/** As `codedError`; what came after the signal is its doing. */
export function asDroverError(thrown: unknown, signal: AbortSignal): DroverError {
  if (!(thrown instanceof DroverError) && signal.aborted) return new DroverError("ABORTED", "aborted", { cause: thrown });
  return codedError(thrown);
}
