import { bounded, DroverError, type ErrorCode } from "../../shared/errors.js";
import { driverErrorCode } from "../../shared/mysql/server-error.js";

/** What mysql2 and Node put on their errors. */
interface ServerError {
  errno?: unknown;
  code?: unknown;
  sqlState?: unknown;
  sqlMessage?: unknown;
  fatal?: unknown;
  message?: unknown;
}

/** ER_MASTER_FATAL_ERROR_READING_BINLOG: the dump thread gave up; only the text says why. */
const BINLOG_FATAL = 1236;

/** ER_SPECIFIC_ACCESS_DENIED_ERROR: no grant for the dump. */
const NO_GRANT = 1227;

const LONGEST = 500;

/** The coded form of an error of the dump connection. Server texts hold positions and names, never rows. */
export function streamError(thrown: unknown): DroverError {
  if (thrown instanceof DroverError) return thrown;
  const error = (typeof thrown === "object" && thrown !== null ? thrown : {}) as ServerError;
  const errno = typeof error.errno === "number" ? error.errno : undefined;
  const sqlState = typeof error.sqlState === "string" ? error.sqlState : undefined;
  const text = bounded(String(error.sqlMessage ?? error.message ?? thrown), LONGEST);
  // mysql2 gives a code or `fatal` to what the server or the network did; zongji's own complaints (a GTID set of the wrong
  // kind) have neither.
  const known = errno !== undefined || error.code !== undefined || error.fatal === true || (error instanceof Error && error.constructor !== Error);
  const { code, cure } = known ? classify(thrown, errno, text) : { code: "STATEMENT_REFUSED" as const, cure: undefined };
  return new DroverError(code, `the binlog stream ended: ${text}`, { errno, sqlState, cure, cause: thrown });
}

function classify(thrown: unknown, errno: number | undefined, text: string): { code: ErrorCode; cure?: string } {
  if (errno === BINLOG_FATAL) return classifyDump(text);
  if (errno === NO_GRANT) return { code: "STATEMENT_REFUSED", cure: "grant REPLICATION SLAVE to the user of the source" };
  return { code: driverErrorCode(thrown as Parameters<typeof driverErrorCode>[0]) };
}

/**
 * The texts of 1236, by what they have in common over the versions ("master"/"source", "slave"/"replica"):
 * - purged: "Cannot replicate because the source purged required binary logs. …" (8.x, 9.x), "The slave is connecting using CHANGE
 *   MASTER TO MASTER_AUTO_POSITION = 1, but the master has purged binary logs containing GTIDs that the slave requires" (5.7),
 *   "Could not find first log file name in binary log index file" (all), MariaDB: "Could not find GTID state requested by slave in
 *   any binlog files. Probably the slave state is too old and required binlog files have been purged."
 * - "A slave/replica with the same server_uuid/server_id as this …": another dump of the same id threw this one out
 */
function classifyDump(text: string): { code: ErrorCode; cure?: string } {
  if (/purged|could not find first log file|could not find GTID state/i.test(text)) {
    return { code: "BINLOG_PURGED", cure: "keep binlogs on the source for longer (binlog_expire_logs_seconds) and start the migration anew" };
  }
  if (/same server_uuid|same server[_ -]?id/i.test(text)) return { code: "CONNECTION_LOST" };
  return { code: "STATEMENT_REFUSED" };
}
