/** The package's main entry: commanding migrations from other programs. */
export { DroverClient } from "./client/drover-client.js";
export type { CallOptions, CutoverCallOptions, MigrationList, RepairOptions, ShowDiffOptions, StartOptions, StartResult, WaitForDiffOptions, WaitForOptions, WaitOptions } from "./client/call-options.js";
export type { DroverClientOptions } from "./client/client-options.js";
export type { AnswerOptions } from "./client/command-channel.js";
export type { WaitPhase } from "./client/wait-phases.js";
export { loadConfig, type Config } from "../shared/config.js";
export type { CutoverOptionsInput, CutoverReport } from "../shared/contracts/cutover.js";
export type { DiffOptionsInput, DiffReport, DiffSample, DiffState, DiffTableReport } from "../shared/contracts/diff.js";
export type { MigrationSpecInput } from "../shared/contracts/spec.js";
export type { MigrationStatus, Phase, StoredError, TableStatus } from "../shared/contracts/status.js";
export { DroverError, type ErrorCode, type ErrorKind, type Problem } from "../shared/errors.js";
export type { Finding } from "../shared/preflight/finding.js";
export type { RepairReport } from "../shared/state/diff-repair-report.js";
