/** When the read of a table without a key ends early, and what that means: too large is for good, too slow may be better in a moment. */
import { DroverError } from "../../shared/errors.js";
import type { TableName } from "../../shared/columns/table-definition.js";
import { NO_KEY_BYTES, NO_KEY_ROWS } from "../../shared/selection/no-key.js";

/** The server ends a SELECT of ours after 4 s (milliseconds). */
const MAX_READ_TIME = 3_500;
/** Rows between two looks at the clock. */
const LOOK_EVERY = 64;

export class WholeReadLimit {
  rows = 0;
  bytes = 0;
  private readonly deadline: number;

  /** @param now milliseconds, as `Date.now()` */
  constructor(now: number) {
    this.deadline = now + MAX_READ_TIME;
  }

  /** Counts a row. @returns whether the read may go on */
  add(bytes: number, now: () => number): boolean {
    this.rows += 1;
    this.bytes += bytes;
    return !this.isTooLarge && (this.rows % LOOK_EVERY !== 0 || now() < this.deadline);
  }

  /** Of a read that was ended: NO_KEY_TOO_LARGE, or SERVER_BUSY when it was the time. */
  error({ schema, table }: TableName): DroverError {
    if (!this.isTooLarge)
      return new DroverError("SERVER_BUSY", `${schema}.${table} has no key and must be read at once, which took longer than ${MAX_READ_TIME / 1_000} s`, {
        cure: "it is tried again; on a source that is always so slow give it a primary key, or leave the table out",
      });
    return new DroverError("NO_KEY_TOO_LARGE", `${schema}.${table} has no key and cannot be read at once: its limit is ${NO_KEY_ROWS} rows and ${NO_KEY_BYTES / 2 ** 20} MiB`, {
      cure: "give it a primary key on the source and start the migration anew, or leave the table out",
    });
  }

  private get isTooLarge(): boolean {
    return this.rows > NO_KEY_ROWS || this.bytes > NO_KEY_BYTES;
  }
}
