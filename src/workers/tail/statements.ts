/** What the tail does about a statement in the binlog. */
import type { BinlogStatement } from "../binlog/events.js";
import type { FollowedTables } from "./followed-tables.js";

export type StatementDecision =
  /** Nothing of ours. */
  | { kind: "ignore" }
  /** A batch of its own, a barrier: the tail goes on when the target has executed it. */
  | { kind: "barrier" }
  /** @see DroverError */
  | { kind: "stop"; error: Error };

export interface StatementPolicy {
  decide(statement: BinlogStatement, tables: FollowedTables): StatementDecision;
}
