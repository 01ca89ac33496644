/** Executes a statement batch (DDL) on the target, exactly once across crashes. */
import type { BatchInfo, BatchStatement } from "../../shared/backlog/batch.js";
import type { Session } from "../../shared/mysql/session.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { MigrationRef } from "../context.js";

export interface StatementContext {
  ref: MigrationRef;
  migration: Migration;
  tables: readonly MigrationTable[];
  /** Of its batch. */
  info: BatchInfo;
}

/** What the statement changes in the state; runs in the transaction that moves the fence. */
export type StateChange = (session: Session) => Promise<void>;

/**
 * Moves the fence behind the statement, together with `change`. On the session that holds the DDL lock: until the fence has moved nobody else may
 * execute the statement, and when the session is gone, nobody moves it.
 */
export type MoveFence<T> = (session: Session, change: StateChange) => Promise<T>;

export interface StatementExecutor {
  /**
   * Brings the target's tables to the state after the statement, then moves the fence. It may have been executed already by an attempt that crashed
   * before it moved the fence: the states are compared, error codes are not swallowed.
   * @returns what `move` does
   * @throws DroverError FENCE_MOVED when the fence is not where the batch begins
   */
  execute<T>(statement: BatchStatement, context: StatementContext, move: MoveFence<T>, signal: AbortSignal): Promise<T>;
}
