/** Executes a statement batch (DDL) on the target, exactly once across crashes. */
import type { BatchStatement } from "../../shared/backlog/batch.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { MigrationRef } from "../context.js";

export interface StatementContext {
  ref: MigrationRef;
  migration: Migration;
  tables: readonly MigrationTable[];
}

export interface StatementExecutor {
  /**
   * Brings the target's tables and the recorded definitions to the state after the statement. It may have been executed
   * already by an attempt that crashed before it moved the fence: the states are compared, error codes are not swallowed.
   */
  execute(statement: BatchStatement, context: StatementContext, signal: AbortSignal): Promise<void>;
}
