/**
 * The package's entry `drover/client`: commanding migrations from other programs. It loads no worker code, and no MySQL driver:
 * `DroverHttpClient` never, `DroverClient` not before a status is asked for.
 */
export { DroverHttpClient, type DroverHttpClientOptions } from "./http-client.js";
export { DroverClient } from "./drover-client.js";
export type { CallOptions, CutoverCallOptions, ListDiffsOptions, MigrationList, RepairOptions, ShowDiffOptions, StartDiffOptions, StartDiffResult, StartOptions, StartResult, WaitForDiffOptions, WaitForOptions, WaitOptions } from "./call-options.js";
export type { DroverClientOptions } from "./client-options.js";
export type { AnswerOptions } from "./command-channel.js";
export type { WaitPhase } from "../../shared/contracts/wait.js";
export type { CutoverOptionsInput, CutoverReport } from "../../shared/contracts/cutover.js";
export type { DiffOptionsInput, DiffReport, DiffSample, DiffSchedule, DiffScheduleInput, DiffState, DiffTableReport } from "../../shared/contracts/diff.js";
export type { MigrationSpecInput } from "../../shared/contracts/spec.js";
export type { MigrationStatus, Phase, StoredError, TableStatus } from "../../shared/contracts/status.js";
export { DroverError, type ErrorCode, type ErrorKind, type Problem } from "../../shared/errors.js";
export type { Finding } from "../../shared/preflight/finding.js";
export type { RepairReport } from "../../shared/state/diff-repair-report.js";
