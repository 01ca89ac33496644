/**
 * Every error that Drover raises on purpose has a code and a kind. The kind decides what happens next
 * (see `processors/outcome.ts`), but for a few codes that are named there and in the processors; the code is for people and scripts. The comment on a code is its manual page.
 */

/** What may be done about an error. */
export type ErrorKind =
  /** The user must change a setting, the spec or a server: exit code 2. A job comes again all the same (CONFIG_INVALID): other workers may have what this one lacks. */
  | "config"
  /** May heal by itself: retried with backoff and jitter. */
  | "retryable"
  /** Cannot heal by itself: the migration or diff goes to `failed`, `resume` takes it up again. */
  | "fatal"
  /** We were asked to stop; nothing is wrong. */
  | "aborted"
  /** A defect of Drover itself: treated like fatal, with the stack in the log. */
  | "bug";

export const ERROR_KINDS = {
  /** A setting of the environment or the config file is missing or wrong. */
  CONFIG_INVALID: "config",
  /** A spec, a job payload or an argument that does not validate; `problems` has all of them. */
  SPEC_INVALID: "config",
  /** A command line that does not parse: unknown command or option, missing argument. */
  USAGE_INVALID: "config",
  /** A preflight check failed; `problems` has all of them, each with its cure. */
  PREFLIGHT_FAILED: "config",
  /** The same id is in use by a migration with another spec. */
  MIGRATION_CONFLICT: "config",
  /** The same id is in use by a diff with other options. */
  DIFF_CONFLICT: "config",
  /** No migration or diff of that id is known on any configured server. */
  NOT_FOUND: "config",
  /** The state schema was written by another version of Drover. */
  STATE_VERSION: "config",
  /** The command does not fit the phase that the migration or diff is in. */
  WRONG_PHASE: "config",
  /** Connecting, the network or the server broke; nothing is known about the statement's outcome. */
  CONNECTION_LOST: "retryable",
  /** A deadlock, a lock wait or a statement time limit: the server rolled back, the same work is done again. */
  SERVER_BUSY: "retryable",
  /** The server cannot write at present (read-only, disk full, shutting down). */
  SERVER_UNAVAILABLE: "retryable",
  /** The connections or statements that a server may have at once (`DROVER_LIMITS_<NAME>`) are taken by other work. */
  LIMIT_REACHED: "retryable",
  /** Redis does not answer or refuses to write. */
  REDIS_UNAVAILABLE: "retryable",
  /** The fence moved while the work was under way (I3): somebody else was faster; start over. */
  FENCE_MOVED: "retryable",
  /** The table's shape is not the one the copy was planned with; the table starts over. */
  TABLE_CHANGED: "retryable",
  /** No worker answered a command in time; it stays queued, and what fails is tried again for a while (`processors/control.ts`). */
  NO_ANSWER: "retryable",
  /** What was waited for did not come in time; nothing was changed. */
  TIMEOUT: "retryable",
  /** The migration that was waited for failed, or was stopped. */
  MIGRATION_FAILED: "fatal",
  /** The diff that was waited for failed, or was stopped. */
  DIFF_FAILED: "fatal",
  /** The source no longer has the binlog that comes after our position (error 1236). Start the migration anew. */
  BINLOG_PURGED: "fatal",
  /** The binlog holds an event, a value or a type that cannot be carried exactly. */
  UNDECODABLE: "fatal",
  /** A statement in the binlog that Drover cannot follow (see the message for the cure). */
  DDL_UNSUPPORTED: "fatal",
  /** The server refused a statement for a reason that no retry heals (grants, missing table, bad value). */
  STATEMENT_REFUSED: "fatal",
  /** A row does not fit into the target (`max_allowed_packet`, a warning of LOAD DATA, a wrong row count). */
  ROW_REFUSED: "fatal",
  /** A table without a key (`allowNoKey`) is larger than what may be read at once. */
  NO_KEY_TOO_LARGE: "fatal",
  /** A table without a key lacks a row on the target that the source has changed: the two have gone apart. */
  ROW_MISSING: "fatal",
  /** The same item failed as often as it may without progress. */
  POISON: "fatal",
  /** An `AbortSignal` fired: shutdown, pause, stop or a lost job lock. */
  ABORTED: "aborted",
  /** Something that must not happen. */
  BUG: "bug",
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERROR_KINDS;

/** One finding among several, with what to do about it. */
export interface Problem {
  /** A stable name such as `binlog-row-image` or the path of a wrong key. */
  code: string;
  /** The wrong key, where something that the user wrote is wrong: `tables.0.schema`. */
  path?: string;
  message: string;
  cure: string;
}

export interface DroverErrorOptions {
  /** MySQL's error number and SQLSTATE, where a server said so. */
  errno?: number | undefined;
  sqlState?: string | undefined;
  /** What the user can do. */
  cure?: string | undefined;
  problems?: readonly Problem[] | undefined;
  cause?: unknown;
}

export class DroverError extends Error {
  readonly code: ErrorCode;
  readonly errno: number | undefined;
  readonly sqlState: string | undefined;
  readonly cure: string | undefined;
  readonly problems: readonly Problem[];

  constructor(code: ErrorCode, message: string, options: DroverErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "DroverError";
    this.code = code;
    this.errno = options.errno;
    this.sqlState = options.sqlState;
    this.cure = options.cure;
    this.problems = options.problems ?? [];
  }

  get kind(): ErrorKind {
    return ERROR_KINDS[this.code];
  }
}

/** The form in which an error is stored, shown and sent: bounded, without SQL text and without row values. */
export interface ErrorRecord {
  code: string;
  errno: number | null;
  sqlState: string | null;
  message: string;
}

/** Longest stored message in characters; cut before it is written, so that recording an error cannot fail in turn. */
export const MAX_ERROR_MESSAGE = 1000;

/** The bounded record of any thrown value. */
export function errorRecord(thrown: unknown): ErrorRecord {
  const error = thrown instanceof DroverError ? thrown : undefined;
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const cure = error?.cure === undefined ? "" : ` (${error.cure})`;
  return {
    code: error?.code ?? "BUG",
    errno: error?.errno ?? null,
    sqlState: error?.sqlState ?? null,
    message: bounded(text + cure, MAX_ERROR_MESSAGE),
  };
}

/** `text` cut to at most `limit` characters, with a mark where it was cut. */
export function bounded(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}

/** The error that an aborted signal stands for. */
export function abortedError(signal: AbortSignal): DroverError {
  const reason: unknown = signal.reason;
  if (reason instanceof DroverError) return reason;
  return new DroverError("ABORTED", reason instanceof Error ? reason.message : "aborted", { cause: reason });
}
