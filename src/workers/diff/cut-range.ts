/** Cutting a key range into smaller ones by keyset steps, in the server's own order. */
import { boundaryQuery } from "../../shared/keys/boundary-query.js";
import type { KeyRange } from "../../shared/keys/key-predicate.js";
import type { SideName, Sides } from "./sides.js";
import type { Subject } from "./subject.js";
import { isTimeLimit } from "../../shared/mysql/server-error.js";
import { limited } from "./time-limit.js";

export interface KeyStep {
  after: Buffer | null;
  upTo: Buffer | null;
  rows: number;
}

/** A step over fewer rows is not cut any more when a server takes too long for it. */
const LEAST_ROWS = 64;

/** The key `rows` places behind `after`, at most `upTo`; null when fewer rows are left. */
export async function boundaryKey(sides: Sides, side: SideName, subject: Subject, step: KeyStep, limit: number | null = null): Promise<Buffer | null> {
  let key: Buffer | null = null;
  await sides.read(side, subject, (session, definition) =>
    session.readRows(limited(session, boundaryQuery(definition, { ...step, where: subject.where }), side === "source" ? limit : null), (buffer, start, end) => {
      key = Buffer.from(buffer.subarray(start, end));
    }),
  );
  return key;
}

/**
 * As `boundaryKey`, or a nearer key when the source takes too long to get there.
 * @returns the key, and how many rows behind `after` it is
 */
export async function nearBoundaryKey(sides: Sides, side: SideName, subject: Subject, step: KeyStep, limit: number): Promise<{ key: Buffer | null; rows: number }> {
  for (let rows = step.rows; ; rows = Math.ceil(rows / 4)) {
    try {
      return { key: await boundaryKey(sides, side, subject, { ...step, rows }, rows > LEAST_ROWS ? limit : null), rows };
    } catch (error) {
      if (!isTimeLimit(error) || rows <= LEAST_ROWS) throw error;
    }
  }
}

/** Consecutive parts of `range` that hold `rows` rows each on that side, or fewer; the last one holds the rest. */
export async function* cutRange(sides: Sides, side: SideName, subject: Subject, range: KeyRange, rows: number, limit: number): AsyncGenerator<KeyRange> {
  let lower = range.lower;
  for (;;) {
    const { key } = await nearBoundaryKey(sides, side, subject, { after: lower, upTo: range.upper, rows }, limit);
    // The last row's key can be the range's own bound: nothing is left behind it.
    if (key === null || (range.upper !== null && key.equals(range.upper))) break;
    yield { lower, upper: key };
    lower = key;
  }
  yield { lower, upper: range.upper };
}
