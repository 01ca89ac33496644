/**
 * Empties a chunk's range on a target table that had rows before the copy (`existingTarget: resume`). What is there may be many times
 * what the chunk holds: the last chunk reaches behind the source's last key, and the only chunk of an empty table covers all of it.
 * So that no transaction grows with it, a portion is deleted at a time; the caller commits between two.
 */
import type { KeyRange } from "../../shared/keys/key-predicate.js";
import { keyPredicate } from "../../shared/keys/key-predicate.js";
import { qualified, sql, type ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import type { MigrationOptions } from "../../shared/contracts/spec.js";
import type { MigrationTable } from "../../shared/state/tables.js";

/** Rows that one statement deletes: it must end long before a session's patience does. */
const STATEMENT_ROWS = 1_000;
/** Rows that one transaction deletes, or twice a chunk's: in an ordinary chunk the old rows go and the new ones come at once. */
const PORTION_ROWS = 10_000;
/** A portion ends behind the statement that passes this many milliseconds. */
const PORTION_TIME = 1_000;
/** Bytes per row where the server has no estimate. */
const UNKNOWN_ROW_BYTES = 200;

export interface Portion {
  rows: number;
  /** Nothing is left of the range. */
  last: boolean;
}

export class RangeClearer {
  private readonly statement: ByteSql;
  private readonly statementRows: number;
  private readonly portionRows: number;

  constructor({ definition, target }: MigrationTable, range: KeyRange, options: MigrationOptions) {
    const predicate = definition.key === null ? null : keyPredicate(definition, range);
    this.statementRows = Math.max(1, Math.min(STATEMENT_ROWS, Math.floor(options.chunkBytes / (definition.rowBytesEstimated || UNKNOWN_ROW_BYTES))));
    this.portionRows = Math.max(PORTION_ROWS, 2 * options.chunkRows);
    this.statement = sql`DELETE FROM ${qualified(target.schema, target.table)} WHERE ${predicate ?? sql`TRUE`} LIMIT ${this.statementRows}`;
  }

  /** Inside the caller's transaction, under the fence's lock. */
  async clear(session: Session): Promise<Portion> {
    const start = Date.now();
    let rows = 0;
    while (rows + this.statementRows <= this.portionRows && Date.now() - start < PORTION_TIME) {
      const { affectedRows } = await session.run(this.statement);
      rows += affectedRows;
      if (affectedRows < this.statementRows) return { rows, last: true };
    }
    return { rows, last: false };
  }
}
