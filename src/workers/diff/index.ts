/** What the rest of a worker knows of diffs. */
export { deleteDiff, resumeDiff, startDiff, stopDiff, unfinishedDiffs } from "./commands.js";
export { forgetSchedule, listSchedules, recordSchedule, startScheduledDiff, type ScheduledTurn } from "./schedules.js";
