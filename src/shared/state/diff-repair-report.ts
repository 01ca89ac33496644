/** What a repair did, or would do: stored with the diff, shown by `diff repair`. Keys and statements, never values. */
import type { ErrorRecord } from "../errors.js";
import type { Session } from "../mysql/session.js";
import { DiffState } from "./diff-state.js";
import type { RepairState } from "./diffs.js";

export interface RepairAction {
  table: string;
  action: "replace" | "delete";
  key: Record<string, string>;
  /** With `?` in the place of every value. */
  statement: string;
}

export interface RepairReport {
  id: string;
  diffId: string;
  dryRun: boolean;
  state: RepairState;
  /** Rows made equal. */
  repaired: number;
  /** Rows that had become equal by themselves. */
  equal: number;
  /** Rows that kept changing: the next diff tells. */
  inconclusive: number;
  /** Rows that the target refused. */
  refused: number;
  /** Bounded; `actionsLeftOut` counts the rest. */
  actions: RepairAction[];
  actionsLeftOut: number;
  error: ErrorRecord | null;
  startedAt: string;
  completedAt: string | null;
}

/** The latest repair of a diff; null when none was asked for. @throws DroverError NOT_FOUND */
export async function readRepairReport(session: Session, schema: string, migration: string, diffId: string): Promise<RepairReport | null> {
  const diff = await new DiffState(schema).diffs.require(session, migration, diffId);
  return diff.repair === null ? null : (JSON.parse(diff.repair) as RepairReport);
}
