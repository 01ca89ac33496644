/** MySQL's and mysql2's errors to coded ones: by number, never by wording. */
import { DroverError, bounded, type ErrorCode } from "../errors.js";

/** The server rolled back, or never began; the same statement may succeed in a moment. */
const BUSY = new Set([1205, 1206, 1213, 1317, 1412, 1637, 1969, 3024, 3058, 3101, 3572, 1614, 1180]);
/** The server cannot do it at present: read-only, full, shutting down, out of connections or memory. */
const UNAVAILABLE = new Set([
  // A login that is refused: a password is being rotated, or one worker has an old one. It must not end a migration.
  1045, 1129, 1130, 1698, 1820, 1862, 3118,
  3, 28, 1021, 1023, 1026, 1028, 1030, 1037, 1038, 1040, 1041, 1053, 1077, 1114, 1135, 1203, 1226, 1290, 1598, 1792, 1836, 1881, 3100, 3168, 3169, 3707]);
/** Wrong password, unknown database, host not allowed, host blocked, TLS demanded, account locked, password expired. */
export const LOGIN_REFUSED: ReadonlySet<number> = new Set([1045, 1044, 1130, 1129, 1698, 3118, 3159, 1820, 1862, 4151]);
const LOST = new Set([1042, 1043, 1047, 1080, 1152, 1154, 1156, 1157, 1158, 1159, 1160, 1161, 1184, 1927, 2002, 2003, 2006, 2013, 2055, 3032, 4031]);
/** Their messages quote row values or SQL text (promise 6). */
const QUOTES_VALUES = new Set([1062, 1064, 1149, 1265, 1292, 1300, 1366, 1367, 1406, 1411, 1416, 1525, 1526, 1557, 1586, 1690, 1761, 1762, 1859, 1977, 3140, 3141, 3143, 3144, 3146, 3156, 3854, 3903, 3904]);

/** Statement time limits: MySQL's `max_execution_time`, MariaDB's `max_statement_time`. */
const TIME_LIMITS = new Set([3024, 1969]);

/** The server ended a statement after its time: the same with less to do may succeed. */
export function isTimeLimit(error: unknown): boolean {
  return error instanceof DroverError && error.errno !== undefined && TIME_LIMITS.has(error.errno);
}

interface DriverError extends Error {
  code?: string;
  errno?: number;
  sqlState?: string;
  fatal?: boolean;
}

/** @param server the connection's name, for the message @param cure what may be done when it does not let us in, or is not there */
export function serverError(thrown: unknown, server: string, cure?: { login: string; network: string }): DroverError {
  if (thrown instanceof DroverError) return thrown;
  const error = thrown as DriverError;
  const errno = typeof error.errno === "number" && error.errno > 0 ? error.errno : undefined;
  const code = driverErrorCode(error);
  return new DroverError(code, `${server}: ${safeMessage(error, errno)}`, {
    errno,
    cure: LOGIN_REFUSED.has(errno ?? 0) ? cure?.login : code === "CONNECTION_LOST" ? cure?.network : undefined,
    sqlState: error.sqlState === "" ? undefined : error.sqlState,
    // Its stack is all that tells where a defect is.
    ...(code === "BUG" ? { cause: thrown } : {}),
  });
}

/** The one classification of what the driver, the network or a server did; also of the connection that the binlog comes by. */
export function driverErrorCode(error: Pick<DriverError, "errno" | "sqlState" | "code" | "fatal">): ErrorCode {
  const { errno, sqlState } = error;
  // Node's own numbers are negative.
  if (typeof errno !== "number" || errno <= 0) return isDefect(error) ? "BUG" : "CONNECTION_LOST";
  if (LOST.has(errno)) return "CONNECTION_LOST";
  if (BUSY.has(errno)) return "SERVER_BUSY";
  if (UNAVAILABLE.has(errno)) return "SERVER_UNAVAILABLE";
  if (sqlState?.startsWith("08")) return "CONNECTION_LOST";
  return "STATEMENT_REFUSED";
}

/** The driver hands to its callbacks what our own code throws while it reads rows: neither it nor the network marks such an error, but for Node's `ERR_…` of a wrong argument. */
function isDefect(error: Pick<DriverError, "code" | "fatal">): boolean {
  if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError || error instanceof SyntaxError) return true;
  if (typeof error.code !== "string") return error.fatal !== true;
  return error.code.startsWith("ERR_") && !/^ERR_(?:SOCKET|STREAM|TLS|SSL)/.test(error.code);
}

function safeMessage(error: DriverError, errno: number | undefined): string {
  // The driver decoded the server's UTF-8 with the session's character set, which is binary.
  const text = errno === undefined ? error.message : Buffer.from(error.message, "latin1").toString("utf8");
  const safe = errno !== undefined && QUOTES_VALUES.has(errno) ? withoutValues(text, errno) : text;
  return bounded(`${safe}${errno === undefined ? (error.code === undefined || safe.includes(error.code) ? "" : ` (${error.code})`) : ` (errno ${errno})`}`, 500);
}

function withoutValues(text: string, errno: number): string {
  // 1062 "Duplicate entry 'VALUE' for key 'KEY'": the last quoted part is a name, what comes before is a value.
  if (errno === 1062 || errno === 1586) return `Duplicate entry for key${/ for key ('[^']*')$/.exec(text)?.[1] ?? ""}`;
  if (errno === 1064 || errno === 1149) return "The server did not accept the statement's syntax";
  const column = /for column ('[^']*'|`[^`]*`(?:\.`[^`]*`)*)/.exec(text)?.[1];
  return `${/^[A-Za-z ,]*/.exec(text)?.[0].trim() ?? "A value was refused"}${column === undefined ? "" : ` (column ${column})`}`;
}
