/** What a repair did, or would do: stored with the diff, shown by `diff repair`. Keys and statements, never values. */
import type { z } from "zod";
import type { repairReport } from "../contracts/diff.js";
import type { Session } from "../mysql/session.js";
import { DiffState } from "./diff-state.js";

export type RepairReport = z.output<typeof repairReport>;

/** The latest repair of a diff; null when none was asked for. @throws DroverError NOT_FOUND */
export async function readRepairReport(session: Session, schema: string, migration: string, diffId: string): Promise<RepairReport | null> {
  const diff = await new DiffState(schema).diffs.require(session, migration, diffId);
  return diff.repair === null ? null : (JSON.parse(diff.repair) as RepairReport);
}
