/** What the tail does about a statement in the binlog. */
import type { MigrationSpec } from "../../shared/contracts/spec.js";
import type { BinlogStatement } from "../binlog/events.js";
import type { EngineContext, MigrationRef } from "../context.js";
import type { FollowedTables } from "./followed-tables.js";

/**
 * `ignore`: nothing of ours. `barrier`: a batch of its own; the tail goes on when the target has executed it. `restarted`:
 * tables have started over because of it, and the tail begins anew at the fence.
 */
export type StatementDecision = "ignore" | "barrier" | "restarted";

export interface StatementScope {
  context: EngineContext;
  ref: MigrationRef;
  spec: MigrationSpec;
  tables: FollowedTables;
  /** The transaction that the statement is in. */
  gtid: string;
}

export interface StatementPolicy {
  /** @throws DroverError DDL_UNSUPPORTED when it cannot be followed: the migration stops there */
  decide(statement: BinlogStatement, scope: StatementScope, signal: AbortSignal): Promise<StatementDecision>;
}
