/** What the rest of a worker knows of diffs. */
export { deleteDiff, resumeDiff, startDiff, startScheduledDiff, stopDiff, unfinishedDiffs } from "./commands.js";
export { ensureDiffJobs, startRepair } from "./jobs.js";
