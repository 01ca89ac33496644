/** The options and results of the client's calls. */
import type { CutoverReport } from "../../shared/contracts/cutover.js";
import type { DiffReport, DiffState } from "../../shared/contracts/diff.js";
import type { MigrationStatus, Phase } from "../../shared/contracts/status.js";
import type { Finding } from "../../shared/preflight/finding.js";
import type { AnswerOptions } from "./command-channel.js";

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

export interface StartOptions extends AnswerOptions {
  /** Check both servers first (`check`); default false. Findings that block are thrown as PREFLIGHT_FAILED. */
  preflight?: boolean;
}

export interface StartResult {
  id: string;
  /** False when no worker runs: the command stays queued, and the first worker takes it up. */
  accepted: boolean;
  /** The phase of the migration when it was there already with the same spec: nothing was changed. Null for a new one. */
  known: Phase | null;
  /** What the preflight has to say without blocking. */
  warnings: Finding[];
}

export interface StartDiffOptions extends AnswerOptions {
  /** The same id with the same options is the same diff, so a start whose answer was lost may be repeated; default: a new id. */
  diffId?: string | undefined;
}

export interface StartDiffResult {
  diffId: string;
  /** The state of the diff when it was there already with the same options: nothing was changed. Null for a new one. */
  known: DiffState | null;
}

export interface WaitOptions extends CallOptions {
  /** Milliseconds; without it the wait has no end. */
  timeout?: number | undefined;
}

export interface WaitForOptions extends WaitOptions {
  /** For `caught-up`: the source's position to wait for; default: where the source is when the wait begins. */
  position?: string | undefined;
  /** Called with every status seen on the way. */
  onStatus?: ((status: MigrationStatus) => void) | undefined;
}

export interface WaitForDiffOptions extends WaitOptions {
  onReport?: ((report: DiffReport) => void) | undefined;
}

export interface ListDiffsOptions extends CallOptions {
  /** Default 100. */
  limit?: number | undefined;
  /** Only those in this state. */
  state?: DiffState | undefined;
}

export interface ShowDiffOptions extends CallOptions {
  /** Also the sampled rows' values, read from both servers now; default false. */
  showValues?: boolean | undefined;
}

export interface RepairOptions extends WaitOptions, Pick<AnswerOptions, "onNoWorker"> {
  /** Only say what would be changed; default false. */
  dryRun?: boolean | undefined;
}

export interface CutoverCallOptions extends CallOptions, Pick<AnswerOptions, "onNoWorker"> {
  /** Only look; default false. */
  dryRun?: boolean | undefined;
  /** Called with every report seen on the way. */
  onReport?: ((report: CutoverReport) => void) | undefined;
}

export interface MigrationList {
  migrations: MigrationStatus[];
  /** Connections that could not be asked: their migrations are missing from the list. */
  unreachable: { connection: string; message: string }[];
}
