/** What the rest of a worker knows of diffs. */
export { deleteDiff, resumeDiff, startDiff, stopDiff, unfinishedDiffs } from "./commands.js";
export { ensureSchedulers, putSchedule, removeSchedule, startScheduledDiff } from "./schedules.js";
export { ensureDiffJobs, startRepair } from "./jobs.js";
