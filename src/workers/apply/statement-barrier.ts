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

export interface StatementExecutor {
  /**
   * Brings the target's tables to the state after the statement. It may have been executed already by an attempt that crashed
   * before it moved the fence: the states are compared, error codes are not swallowed.
   * @throws DroverError FENCE_MOVED when the fence is not where the batch begins
   */
  execute(statement: BatchStatement, context: StatementContext, signal: AbortSignal): Promise<StateChange>;
}
