/** Cuts a key range into smaller ones by keyset steps, in the server's own order. */
import { boundaryQuery } from "../../shared/keys/boundary-query.js";
import type { KeyRange } from "../../shared/keys/key-predicate.js";
import type { SideName, Sides } from "./sides.js";
import type { Subject } from "./subject.js";

/** The key `rows` places behind `after`, at most `upTo`; null when fewer rows are left. */
export async function boundaryKey(sides: Sides, side: SideName, subject: Subject, step: { after: Buffer | null; upTo: Buffer | null; rows: number }): Promise<Buffer | null> {
  let key: Buffer | null = null;
  await sides.read(side, subject, (session, definition) =>
    session.readRows(boundaryQuery(definition, { ...step, where: subject.where }), (buffer, start, end) => {
      key = Buffer.from(buffer.subarray(start, end));
    }),
  );
  return key;
}

/** Consecutive parts of `range` that hold `rows` rows each on that side; the last one holds the rest. */
export async function* cutRange(sides: Sides, side: SideName, subject: Subject, range: KeyRange, rows: number): AsyncGenerator<KeyRange> {
  let lower = range.lower;
  for (;;) {
    const bound = await boundaryKey(sides, side, subject, { after: lower, upTo: range.upper, rows });
    // The last row's key can be the range's own bound: nothing is left behind it.
    if (bound === null || (range.upper !== null && bound.equals(range.upper))) break;
    yield { lower, upper: bound };
    lower = bound;
  }
  yield { lower, upper: range.upper };
}
